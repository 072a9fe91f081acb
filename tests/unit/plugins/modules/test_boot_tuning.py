# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning import boot_tuning as tuning
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci import (
    check_config,
    check_scope,
    observe as pci,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.pcie import ACS_REDIRECTS, HCA_READ_REQUEST
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.modules import boot_tuning
from tests.gauntlet import render
from tests.unit.on_disk import lay_out

Run = Callable[..., dict[str, Any]]
OFF = {"acs": "keep", "read_request": 0, "governor": ""}
PORTS = ("0000:52:04.0", "0000:52:02.0")
JUDGED = ("pci.bridge.acs", "pci.hca.read_request", "host.cpu.governor")


class Box:
    """A board of the gauntlet on disk, with everything as badly set as a fresh host has it."""

    def __init__(self, root: Path, run_module: Run, board: str) -> None:
        self.root = root
        self._run = run_module
        node = render.node(board)
        bad = {port: {"acs": 0x1D} for port in PORTS}
        for hca in node.hcas:
            bad.setdefault(hca.address, {})["request"] = 512
        node.more = {**node.more, "governor": "powersave", "pci": bad}
        lay_out(render.render(node), root)
        self.expect = from_inventory(node.expect)

    def tune(self, *, check: bool = False, **options: Any) -> dict[str, Any]:
        return self._run(boot_tuning.main, check=check, root=str(self.root), **options)

    def judged(self) -> dict[str, set[str]]:
        """The results of the checks that the settings are for."""
        found: dict[str, set[str]] = {}
        for one in _verify.verify(Live(self.root), self.expect, ["host", "pci"]).checks:
            if one.id in JUDGED:
                found.setdefault(one.id, set()).add(one.result)
        return found

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and not path.is_symlink()
        }


@pytest.fixture
def box(tmp_path: Path, run_module: Run) -> Box:
    return Box(tmp_path, run_module, "hgx-h100-8")


def test_what_it_sets_is_what_the_checks_expect(box: Box) -> None:
    assert box.judged() == {name: {"fail"} for name in JUDGED}
    done = box.tune()
    assert done["changed"]
    assert {one["subject"] for one in done["set"] if one["knob"] == "acs"} == set(PORTS)
    assert box.judged() == {name: {"pass"} for name in JUDGED}


def test_the_second_time_nothing_changes(box: Box) -> None:
    box.tune()
    before = box.files()
    again = box.tune()
    assert (again["changed"], again["set"], again["files"]) == (False, [], [])
    assert box.files() == before


def test_the_program_of_an_earlier_release_is_replaced_and_its_record_is_kept(box: Box) -> None:
    first = box.tune()["set"]
    program = box.root / "usr/local/lib/ibready/boot-tuning"
    now = program.read_text()
    program.write_text("# Another release\n")
    assert box.tune()["files"] == ["/usr/local/lib/ibready/boot-tuning"]
    assert program.read_text() == now
    assert len(box.tune(**OFF)["restored"]) == len(first)


def test_check_mode_tells_all_and_changes_nothing(box: Box) -> None:
    before = box.files()
    reported = box.tune(check=True)
    assert reported["changed"]
    assert len(reported["files"]) == 4
    assert "powersave" in reported["diff"][0]["before"]
    assert box.files() == before


def test_emptied_everything_is_byte_for_byte_as_it_was(box: Box) -> None:
    before = box.files()
    box.tune()
    gone = box.tune(**OFF)
    assert gone["changed"]
    assert len(gone["restored"]) == len(box.tune(check=True)["set"])
    assert box.files() == before
    assert not list((box.root / "etc/systemd/system/multi-user.target.wants").iterdir())


def test_one_knob_is_put_back_and_the_others_stay(box: Box) -> None:
    box.tune()
    back = box.tune(governor="")
    assert {one["knob"] for one in back["restored"]} == {"governor"}
    assert back["restored"][0]["after"] == "powersave"
    assert box.judged()["pci.bridge.acs"] == {"pass"}


def test_what_somebody_else_changed_since_is_not_put_back(box: Box) -> None:
    box.tune()
    policy = box.root / "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
    policy.write_text("schedutil\n")
    box.tune(**OFF)
    assert policy.read_text() == "schedutil\n"


def test_the_installed_program_does_the_same_at_boot(box: Box) -> None:
    before = box.files()
    box.tune()
    # A boot: registers and clocks are the firmware's again, /run is empty.
    for name, content in before.items():
        if name.startswith("sys/"):
            (box.root / name).write_bytes(content)
    (box.root / tuning.RECORD.lstrip("/")).unlink()
    assert box.judged()["pci.bridge.acs"] == {"fail"}
    text = (box.root / "usr/local/lib/ibready/boot-tuning").read_text()
    unit = (box.root / "etc/systemd/system/ibready-boot-tuning.service").read_text()
    assert f"ExecStart={sys.executable} /usr/local/lib/ibready/boot-tuning apply" in unit
    # The program knows no other root than /, so its main is called with one here.
    program = text.replace('root: str = "/"', f"root: str = {str(box.root)!r}")
    done = subprocess.run([sys.executable, "-I", "-c", program, "apply"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "governor of policy0: powersave -> performance" in done.stdout
    assert box.judged() == {name: {"pass"} for name in JUDGED}


def test_the_program_is_executable_and_the_unit_enabled(box: Box) -> None:
    box.tune()
    assert (box.root / "usr/local/lib/ibready/boot-tuning").stat().st_mode & 0o777 == 0o755
    link = box.root / "etc/systemd/system/multi-user.target.wants/ibready-boot-tuning.service"
    assert str(link.readlink()) == "/etc/systemd/system/ibready-boot-tuning.service"


@pytest.mark.parametrize("board", render.boards())
def test_it_turns_to_the_ports_that_the_check_judges(board: str, tmp_path: Path) -> None:
    tree = render.render(render.node(board))
    lay_out(tree, tmp_path)
    host = machine.observe(tree)
    if host.switch_managers.value:
        pytest.skip("the check leaves out the NVLink switches' managers, which share no switch")
    scope = check_scope.scope(pci.observe(tree, host), host, from_inventory({}))
    judged = sorted(check_config._turning_ports(scope))
    assert tuning.turning_ports(tuning.Host(str(tmp_path)).devices()) == judged


def test_constants_are_those_of_the_checks() -> None:
    assert sum(ACS_REDIRECTS) == tuning.REDIRECTS
    assert HCA_READ_REQUEST in tuning.SIZES


@pytest.mark.parametrize(
    ("board", "knob", "why"),
    [
        ("cloud-a100-8-vm", "acs", "virtual machine"),
        ("cloud-a100-8-vm", "governor", "virtual machine"),
        ("gb200-nvl72-node", "acs", "Grace"),
        ("ib-login", "acs", "no NVIDIA GPU"),
    ],
)
def test_what_is_left_alone_is_told(tmp_path: Path, run_module: Run, board: str, knob: str, why: str) -> None:
    reported = Box(tmp_path, run_module, board).tune()
    assert why in reported["left"][knob]
    assert not [one for one in reported["set"] if one["knob"] == knob]


def test_a_container_changes_nothing_of_its_machine(box: Box) -> None:
    (box.root / "run").mkdir(exist_ok=True)
    (box.root / "run/.containerenv").write_text("")
    reported = box.tune()
    assert (reported["changed"], len(reported["left"])) == (False, 3)


def test_a_device_that_is_handed_on_keeps_acs(box: Box) -> None:
    hca = next(iter(render.node("hgx-h100-8").hcas))
    link = box.root / f"sys/bus/pci/devices/{hca.address}/driver"
    link.unlink()
    link.symlink_to("../../../bus/pci/drivers/vfio-pci")
    assert "handed to virtual machines" in box.tune()["left"]["acs"]


def test_an_unknown_governor_is_named_with_those_there_are(box: Box) -> None:
    folder = box.root / "sys/devices/system/cpu/cpufreq/policy0"
    (folder / "scaling_available_governors").write_text("performance powersave\n")
    failed = box.tune(acs="keep", read_request=0, governor="ondemand")
    assert failed["failed"]
    assert "policy0 has no governor ondemand, it has performance, powersave" in failed["msg"]
