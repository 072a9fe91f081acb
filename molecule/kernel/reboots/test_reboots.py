# SPDX-License-Identifier: GPL-3.0-or-later
"""Both machines get another kernel argument, one of them a newer kernel, and they are rebooted.

With consent, one after the other, and not before the newer kernel has a DKMS module. That stands in
for a vendor's: it does nothing, comes with the machines' image, and is built in the machine for the
newer kernel, by the distribution's dkms against that kernel's own headers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

NAMES = ("vm1", "vm2")
NAME = "vm2"
ARGUMENT = "audit=0"
WISH = {"host_tuning_kernel_args": [ARGUMENT], "ibready_max_fail_percentage": 0}
MODULE, PACKAGE = "ibready_vendor_stand_in", "ibready-vendor-stand-in/1.0"
# What the machines' image has fetched of a newer kernel; by dpkg, which does not wait for the disk.
# With apt an emulated processor takes a minute longer for the same files.
FETCHED = "/var/cache/apt/archives"
DPKG = f"cd {FETCHED} && DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io -i"
IMAGE, HEADERS = "linux-image-[0-9]*.deb", "linux-kbuild-*.deb linux-headers-*.deb"


def running(machines: Any) -> str:
    return str(machines.root(NAME, "uname -r")).strip()


def newest(machines: Any) -> str:
    listed = machines.root(NAME, "ls /boot | grep ^vmlinuz- | sort -V | tail -n 1")
    return str(listed).strip().removeprefix("vmlinuz-")


def boots(machines: Any) -> dict[str, str]:
    """Machine -> the id of the boot that it runs."""
    path = "/proc/sys/kernel/random/boot_id"
    return {name: machines.root(name, f"cat {path}").strip() for name in NAMES}


def stack(machines: Any, folder: Path) -> dict[tuple[str, str], Any]:
    """The checks of area stack, by id and subject."""
    done = machines.play(
        "molecule/look.yml",
        {"look_areas": ["stack"], "look_folder": str(folder)},
        *("--limit", NAME),
    )
    assert done.returncode == 0, done.stdout
    checks = json.loads((folder / f"{NAME}.json").read_text())
    return {(one["id"], one["subject"]): one for one in checks}


@pytest.fixture(scope="module")
def newer(machines: Any) -> str:
    """A machine with the module, and a newer kernel without headers; gives that kernel.

    "" where the archive had none, as for some days after a point release.
    """
    old = running(machines)
    if not machines.root(NAME, f"find {FETCHED} -name '{IMAGE}'").strip():
        return ""
    machines.root(NAME, f"modprobe {MODULE}")
    machines.root(NAME, f"echo {MODULE} > /etc/modules-load.d/ibready-vendor-stand-in.conf")
    machines.root(NAME, f"{DPKG} {IMAGE}")
    found = newest(machines)
    assert found != old
    return found


@pytest.fixture
def upgraded(newer: str) -> str:
    """The newer kernel, for tests of nothing else."""
    if not newer:
        pytest.skip("the archive has no kernel that is newer than the machine's now")
    return newer


def test_a_newer_kernel_without_the_module_is_told_before_anybody_reboots(
    machines: Any, upgraded: str, tmp_path: Path
) -> None:
    found = stack(machines, tmp_path)[("stack.kmod.next", PACKAGE)]
    assert found["result"] == "fail"
    assert f"the kernel's headers are missing (/lib/modules/{upgraded}/build)" in found["cause"]
    assert f"linux-headers-{upgraded}" in found["remedy"]


def test_nobody_is_rebooted_into_a_kernel_without_the_module(machines: Any, upgraded: str) -> None:
    before = boots(machines)
    done = machines.play("molecule/kernel/reboots/gate.yml", {}, "--limit", NAME)
    assert done.returncode != 0
    assert f"DKMS has not built {PACKAGE} for {upgraded}" in done.stdout
    assert f"install linux-headers-{upgraded}" in done.stdout
    assert boots(machines) == before


def headers(machines: Any) -> None:
    """Install those of the newer kernel, on a host where no hook builds modules by it."""
    # Debian's own would.
    hook = "/etc/kernel/header_postinst.d/dkms"
    machines.root(NAME, f"chmod a-x {hook} && ({DPKG} {HEADERS}); chmod a+x {hook}")


def test_with_consent_one_goes_down_after_the_other(machines: Any, newer: str) -> None:
    before = boots(machines)
    desired = {**WISH, "ibready_serial": 1}
    with machines.playing("playbooks/converge.yml", desired, *machines.gate) as rolling:
        if newer:
            # Long before this machine's turn, which comes when the other one is back.
            headers(machines)
        rolling.wait(1200)
        assert rolling.status == 0, rolling.output
    for name in NAMES:
        machines.forget(name)
    after = boots(machines)
    up = {}
    for name in NAMES:
        assert after[name] != before[name], name
        assert ARGUMENT in machines.root(name, "cat /proc/cmdline").split()
        up[name] = float(machines.root(name, "cut -d' ' -f1 /proc/uptime"))
    # The second went down only when the first was back: it took a boot's time at least.
    assert up["vm1"] > up["vm2"] + 10, up


def test_the_newer_kernel_runs_with_the_module(machines: Any, upgraded: str) -> None:
    assert running(machines) == upgraded
    assert machines.root(NAME, f"modinfo -F filename {MODULE}").startswith(f"/lib/modules/{upgraded}/updates/dkms/")
    assert machines.root(NAME, f"cat /sys/module/{MODULE}/initstate").strip() == "live"


def test_what_rdma_needs_is_back_after_the_boot(machines: Any) -> None:
    for name in NAMES:
        assert re.search(r"^link rxe0/1 state ACTIVE ", machines.root(name, "rdma link"))
        limit = machines.root(name, "systemctl show -p DefaultLimitMEMLOCK --value").strip()
        assert limit == "infinity"


def test_the_verdict_is_back(machines: Any, newer: str, tmp_path: Path) -> None:
    desired = {"ibready_rdma_containers": False, "ibready_report_dir": str(tmp_path)}
    done = machines.play("playbooks/verify.yml", desired)
    report = json.loads((tmp_path / "ibready-report.json").read_text())
    for name in NAMES:
        mine = report["hosts"][name]
        found = [*mine["checks"], *(report["settled"][at] for at in mine["settled"] if at >= 0)]
        wrong = [one for one in found if one["result"] in ("fail", "unknown")]
        bad = [one["id"] for one in wrong if not one.get("waived")]
        # That there are two kernels now is told, and nothing else: no module waits for one.
        assert bad == (["fleet.host.kernel"] if newer else []), done.stdout
        waits = {one["subject"]: one["result"] for one in found if one["id"] == "stack.kmod.next"}
        assert waits == {"host": "pass"}, done.stdout
    moved = [one for one in report["rdma"] if one["state"] == "moved"]
    assert len(moved) == len(report["rdma"]) == 4, report["rdma"]
