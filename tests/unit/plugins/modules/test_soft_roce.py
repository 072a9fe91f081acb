# SPDX-License-Identifier: GPL-3.0-or-later
"""The module on a laid-out /sys, with a stand-in for iproute2's ``rdma`` that changes it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.soft_roce import persist, program
from ansible_collections.ibready.cluster.plugins.modules import soft_roce

Run = Callable[..., dict[str, Any]]
KERNEL = "6.8.0-60-generic"
ONE = {"name": "rxe0", "netdev": "eth0"}
# What it prints is iproute2's; what it does to sysfs is what rdma_rxe does.
STAND_IN_RDMA = """#!/usr/bin/python3
import json, os, pathlib, shutil, sys
home = pathlib.Path({home!r})
sysfs, argv = home / "sys/class/infiniband", sys.argv[1:]
with open(home / "calls", "a") as stream:
    stream.write(" ".join(argv) + "\\n")
if (home / "rdma-fails").exists():
    print("error: Invalid argument", file=sys.stderr)
    sys.exit(1)
if argv[:2] == ["link", "add"]:
    name, netdev = argv[2], argv[6]
    if netdev in ((home / "no").read_text() if (home / "no").exists() else ""):
        print("error: Operation not permitted", file=sys.stderr)
        sys.exit(1)
    if (home / "rdma-lies").exists():
        sys.exit(0)
    (sysfs / name / "ports/1").mkdir(parents=True)
    (sysfs / name / "parent").write_text(netdev + "\\n")
    (sysfs / name / "ports/1/state").write_text("4: ACTIVE\\n")
elif argv[:2] == ["link", "delete"]:
    shutil.rmtree(sysfs / argv[2])
elif argv == ["-j", "link"]:
    print(json.dumps([
        {{"ifindex": n, "ifname": one.name, "port": 1, "state": "ACTIVE",
          "physical_state": "LINK_UP", "netdev": (one / "parent").read_text().strip(),
          "netdev_index": 2}} for n, one in enumerate(sorted(sysfs.iterdir()))]))
elif argv[:4] == ["-j", "resource", "show", "qp"]:
    own = [{{"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 1, "type": "GSI", "state": "RTS",
            "sq-psn": 0, "comm": "ib_core"}}]
    print(json.dumps(own + json.loads((home / "queues").read_text())))
"""


class Box:
    def __init__(self, root: Path, run: Run) -> None:
        self.root, self._run = root, run
        for netdev, kind in {"lo": "772", "eth0": "1", "eth1": "1", "ib0": "32"}.items():
            self.put(f"sys/class/net/{netdev}/type", kind)
        self.put("proc/sys/kernel/osrelease", KERNEL)
        self.put("etc/os-release", 'NAME="Ubuntu"\nID=ubuntu')
        self.put(f"lib/modules/{KERNEL}/modules.dep", "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.zst:")
        self.put("queues", "[]")
        (root / "sys/class/infiniband").mkdir(parents=True)

    def put(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")

    def add(self, name: str, netdev: str = "") -> None:
        """A device that somebody else made: soft RoCE, or an HCA where no interface is named."""
        self.put(f"sys/class/infiniband/{name}/ports/1/state", "4: ACTIVE")
        if netdev:
            self.put(f"sys/class/infiniband/{name}/parent", netdev)

    def keep(self, *links: dict[str, str], check: bool = False, **more: Any) -> dict[str, Any]:
        return self._run(soft_roce.main, check=check, links=list(links), root=str(self.root), **more)

    def calls(self) -> list[str]:
        path = self.root / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [one for one in found if one.startswith("link ")]

    def devices(self) -> dict[str, str]:
        return program.Host(str(self.root)).soft()

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in sorted((self.root / "etc").rglob("*"))
            if path.is_file()
        }

    def boot(self, netdev: str) -> subprocess.CompletedProcess[str]:
        """Run the installed program as the unit does; it knows no other root than /."""
        text = (self.root / persist.PROGRAM.lstrip("/")).read_text()
        text = text.replace('root: str = "/"', f"root: str = {str(self.root)!r}")
        return subprocess.run([sys.executable, "-I", "-c", text, "add", netdev], capture_output=True, text=True)


@pytest.fixture
def box(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Box:
    tool = tmp_path / "bin/rdma"
    tool.parent.mkdir()
    tool.write_text(STAND_IN_RDMA.format(home=str(tmp_path)))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    return Box(tmp_path, run_module)


def test_a_device_is_added_and_kept(box: Box) -> None:
    done = box.keep(ONE)
    assert done["changed"]
    assert done["added"] == ["rxe0"]
    assert done["links"] == {"rxe0": {"netdev": "eth0", "state": "ACTIVE"}}
    assert box.calls() == ["link add rxe0 type rxe netdev eth0"]
    for folder in ("sys-subsystem-net-devices-eth0.device.wants", "multi-user.target.wants"):
        link = box.root / "etc/systemd/system" / folder / "ibready-soft-roce@eth0.service"
        assert str(link.readlink()) == persist.UNIT
    assert json.loads(box.files()["etc/ibready/soft-roce.json"]) == {"links": {"rxe0": "eth0"}}


def test_the_second_time_nothing_changes(box: Box) -> None:
    box.keep(ONE)
    before, again = box.files(), box.keep(ONE)
    assert not again["changed"]
    assert box.files() == before
    assert box.calls() == ["link add rxe0 type rxe netdev eth0"]


def test_check_mode_tells_all_and_changes_nothing(box: Box) -> None:
    before = box.files()
    reported = box.keep(ONE, check=True)
    assert reported["changed"]
    assert (reported["added"], len(reported["files"])) == (["rxe0"], 5)
    assert (box.files(), box.devices(), box.calls()) == (before, {}, [])


def test_after_a_boot_the_unit_brings_it_back(box: Box) -> None:
    box.keep(ONE)
    program.Host(str(box.root)).delete("rxe0")
    done = box.boot("eth0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "rxe0 on eth0: added (rdma_rxe, RDMA in software), port 1 is ACTIVE\n"
    assert "was there" in box.boot("eth0").stdout
    assert "no soft RoCE is asked for on eth1" in box.boot("eth1").stdout
    unit = (box.root / persist.UNIT.lstrip("/")).read_text()
    assert f"ExecStart={sys.executable} {persist.PROGRAM} add %I" in unit


def test_a_boot_that_fails_says_why(box: Box) -> None:
    box.keep(ONE)
    program.Host(str(box.root)).delete("rxe0")
    (box.root / "rdma-fails").touch()
    done = box.boot("eth0")
    assert done.returncode == 1
    assert "ended with status 1: error: Invalid argument" in done.stderr


def test_what_nobody_asks_for_any_more_goes_with_its_files(box: Box) -> None:
    before = box.files()
    box.keep(ONE)
    gone = box.keep()
    assert gone["deleted"] == ["rxe0"]
    assert (box.devices(), box.files()) == ({}, before)
    assert not list((box.root / "var/lib/ibready").iterdir())
    assert not box.keep()["changed"]


def test_what_somebody_else_made_stays(box: Box) -> None:
    box.add("rxe0", "eth0")
    box.keep(ONE)
    assert box.calls() == []
    done = box.keep()
    assert (done["deleted"], box.devices()) == ([], {"rxe0": "eth0"})


def test_another_interface_moves_a_device_of_ours(box: Box) -> None:
    box.keep(ONE)
    done = box.keep({"name": "rxe0", "netdev": "eth1"})
    assert (done["deleted"], done["added"]) == (["rxe0"], ["rxe0"])
    assert box.devices() == {"rxe0": "eth1"}
    wants = sorted(path.name for path in box.root.glob("etc/systemd/system/*.wants/*"))
    assert wants == ["ibready-soft-roce@eth1.service"] * 2


def test_another_name_takes_the_interface_of_one_of_ours(box: Box) -> None:
    box.keep(ONE)
    box.keep({"name": "soft0", "netdev": "eth0"})
    assert box.devices() == {"soft0": "eth0"}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("links", "words"),
    [
        pytest.param([{"name": "rxe0", "netdev": "eth7"}], "has no interface eth7; it has eth0", id="netdev"),
        pytest.param([{"name": "rxe0", "netdev": "ib0"}], "no Ethernet interface (type 32)", id="ipoib"),
        pytest.param([{"name": "mlx5_0", "netdev": "eth0"}], "another RDMA device", id="an HCA's name"),
        pytest.param(
            [{"name": "old0", "netdev": "eth0"}],
            "soft RoCE on eth1 of this host, which ibready did not",
            id="name",
        ),
        pytest.param([{"name": "rxe0", "netdev": "eth1"}], "eth1 has the soft RoCE device old0", id="taken"),
        pytest.param([{"name": "rxe0"}], "say {name: rxe0, netdev: eth0}", id="half"),
        pytest.param([{**ONE, "mtu": 9000}], "say {name: rxe0, netdev: eth0}", id="a key too many"),
        pytest.param([{"name": "rxe 0", "netdev": "eth0"}], "no name of a device", id="a blank"),
        pytest.param([{"name": "rxe0", "netdev": "../x"}], "no name of a network interface", id="a path"),
        pytest.param([ONE, {"name": "rxe0", "netdev": "eth1"}], "rxe0 is named twice", id="twice"),
        pytest.param([ONE, {"name": "rxe1", "netdev": "eth0"}], "eth0 has rxe0 already", id="two on one"),
    ],
)
def test_bad_input_is_refused_before_anything_changes(
    box: Box, links: list[dict[str, str]], words: str, check: bool
) -> None:
    box.add("mlx5_0")
    box.add("old0", "eth1")
    before = box.files()
    reported = box.keep(*links, check=check)
    assert reported.get("failed"), reported
    assert words in reported["msg"]
    assert "Next: " in reported["msg"] or "no name of a network" in words
    assert (box.files(), box.calls()) == (before, [])


@pytest.mark.parametrize(
    ("system", "package"),
    [
        ("ID=ubuntu", f"linux-modules-extra-{KERNEL}"),
        ("ID=debian", "the full kernel"),
        ('ID="rocky"', f"kernel-modules-extra-{KERNEL}"),
    ],
)
def test_a_kernel_without_the_module_names_the_package(box: Box, system: str, package: str) -> None:
    box.put("etc/os-release", system)
    box.put(f"lib/modules/{KERNEL}/modules.dep", "kernel/net/8021q/8021q.ko.zst:")
    reported = box.keep(ONE)
    assert f"kernel {KERNEL} has no module rdma_rxe. Next: install {package}" in reported["msg"]
    assert not box.keep(ONE, check=True, kernel_comes=True).get("failed")
    box.put(f"lib/modules/{KERNEL}/modules.builtin", "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko")
    assert box.keep(ONE)["changed"]


def test_a_kernel_whose_modules_are_not_there_is_no_pass(box: Box) -> None:
    (box.root / f"lib/modules/{KERNEL}/modules.dep").unlink()
    assert "nobody can tell whether kernel" in box.keep(ONE)["msg"]
    (box.root / "sys/module/rdma_rxe").mkdir(parents=True)
    assert box.keep(ONE)["changed"]


@pytest.mark.parametrize("check", [True, False])
def test_a_device_that_a_process_has_open_stays(box: Box, check: bool) -> None:
    box.keep(ONE)
    box.put("sys/class/infiniband_verbs/uverbs3/ibdev", "rxe0")
    box.put("proc/4711/comm", "ib_write_bw")
    (box.root / "proc/4711/fd").mkdir()
    (box.root / "proc/4711/fd/5").symlink_to("/dev/infiniband/uverbs3")
    before = box.files()
    reported = box.keep(check=check)
    assert "used by ib_write_bw[4711]" in reported["msg"]
    assert "drain the host" in reported["msg"]
    assert (box.devices(), box.files()) == ({"rxe0": "eth0"}, before)
    box.put("sys/class/infiniband_verbs/uverbs3/ibdev", "mlx5_0")
    assert box.keep(check=check)["deleted"] == ["rxe0"]


def test_a_device_that_the_kernel_uses_stays(box: Box) -> None:
    box.keep(ONE)
    nfs = {"ifname": "rxe0", "port": 1, "lqpn": 19, "type": "RC", "comm": "[xprtrdma]"}
    box.put("queues", json.dumps([nfs]))
    assert "the kernel (xprtrdma)" in box.keep()["msg"]
    box.put("queues", "")
    assert "nobody can tell who uses it" in box.keep()["msg"]
    assert box.devices() == {"rxe0": "eth0"}


def test_a_kernel_that_refuses_leaves_nothing_for_the_boot(box: Box) -> None:
    (box.root / "rdma-fails").touch()
    before = box.files()
    reported = box.keep(ONE)
    assert "`rdma link add rxe0 type rxe netdev eth0` ended with status 1" in reported["msg"]
    assert box.files() == before
    (box.root / "rdma-fails").unlink()
    (box.root / "rdma-lies").touch()
    assert "there is no such device" in box.keep(ONE)["msg"]
    (box.root / "rdma-lies").unlink()
    assert box.keep(ONE)["added"] == ["rxe0"]


def test_a_device_that_cannot_move_is_back_where_it_was(box: Box) -> None:
    box.keep(ONE)
    before = box.files()
    box.put("no", "eth1")
    reported = box.keep({"name": "soft0", "netdev": "eth0"}, {"name": "rxe0", "netdev": "eth1"})
    assert "Operation not permitted" in reported["msg"]
    assert "What was there before is there again" in reported["msg"]
    assert (box.devices(), box.files()) == ({"rxe0": "eth0"}, before)
    (box.root / "no").unlink()
    assert box.keep({"name": "rxe0", "netdev": "eth1"})["changed"]
    assert box.devices() == {"rxe0": "eth1"}


def test_a_run_that_was_cut_short_is_finished(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(_files: persist.Files, _root: str) -> None:
        raise OSError(28, "No space left on device", "/etc/ibready")

    with monkeypatch.context() as patch:
        patch.setattr(persist, "write", cut)
        assert "No space left" in box.keep(ONE)["msg"]
    assert box.devices() == {"rxe0": "eth0"}
    assert box.keep(ONE)["changed"]
    # It is ours, and so it goes.
    assert box.keep()["deleted"] == ["rxe0"]


def test_what_tells_the_next_run_to_go_on_goes_last(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    before = box.files()
    box.keep(ONE)

    def cut(_path: str) -> None:
        raise OSError(28, "No space left on device", "/etc/systemd")

    with monkeypatch.context() as patch:
        patch.setattr(persist.os, "rmdir", cut)
        assert "No space left" in box.keep()["msg"]
    assert (box.root / program.CONFIG[1:]).exists()
    assert box.keep()["changed"]
    assert box.files() == before


def test_units_are_named_as_systemd_does() -> None:
    assert persist.escaped("eth0") == "eth0"
    assert persist.escaped("br-lan.5") == "br\\x2dlan.5"
    assert persist.instance("bond0:1") == "ibready-soft-roce@bond0:1.service"
