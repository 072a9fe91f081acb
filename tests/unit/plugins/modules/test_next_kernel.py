# SPDX-License-Identifier: GPL-3.0-or-later
"""next_kernel on a tree of files, with the sandbox's SIMULATED dkms and a stand-in for depmod."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import next_kernel

Run = Callable[..., dict[str, Any]]

ROOT = Path(__file__).parents[4]
DKMS = ROOT / "sandbox/vendor/programs/dkms.py"
OLD, NEW = "6.1.0-39-amd64", "6.1.0-40-amd64"
CONF = """PACKAGE_NAME="vend"
PACKAGE_VERSION="1.0"
BUILT_MODULE_NAME[0]="vend_core"
DEST_MODULE_LOCATION[0]="/updates/dkms"
AUTOINSTALL="yes"
"""
# depmod's part: DKMS runs it at the end.
PROGRAM = """#!/bin/sh
echo "$*" >> {log}
IBREADY_SIMULATED_ROOT={root} {python} {dkms} "$@"
status=$?
for kernel in {root}/lib/modules/*; do
    cd $kernel && find kernel updates -name '*.ko' 2> /dev/null | sed 's/$/:/' > modules.dep
done
exit $status
"""


class Host:
    """A host with one module package, built for the running kernel, and a newer kernel."""

    def __init__(self, home: Path) -> None:
        self.root = home / "root"
        self.log = home / "log"
        self.bin = home / "bin"
        self.bin.mkdir(parents=True)
        text = PROGRAM.format(root=self.root, log=self.log, python=sys.executable, dkms=DKMS)
        self.program("dkms", text)
        self.put("proc/sys/kernel/osrelease", f"{OLD}\n")
        self.put("etc/os-release", "ID=debian\n")
        self.put("sys/module/vend_core/initstate", "live\n")
        for kernel in (OLD, NEW):
            self.put(f"boot/vmlinuz-{kernel}")
            self.put(f"lib/modules/{kernel}/kernel/fs/ext4.ko")
            self.put(f"lib/modules/{kernel}/modules.order", "kernel/fs/ext4.ko\n")
        self.put("usr/src/vend-1.0/dkms.conf", CONF)
        self.put("usr/src/vend-1.0/vend_core.fields", "description: stand-in\n")
        self.headers(OLD)
        assert os.system(f"{self.bin}/dkms install -m vend -v 1.0 -k {OLD} > /dev/null") == 0
        self.log.unlink()

    def program(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def put(self, path: str, text: str = "") -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def headers(self, kernel: str) -> None:
        self.put(f"lib/modules/{kernel}/build/Makefile")

    def asked(self) -> list[str]:
        """What DKMS was asked for, but for its status."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line != "status"]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host(tmp_path)
    monkeypatch.setenv("PATH", f"{made.bin}:{os.environ['PATH']}")
    monkeypatch.setattr(next_kernel.kind, "container", lambda _evidence: "")
    return made


def test_it_builds_what_the_next_kernel_lacks_and_once(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    first = run_module(next_kernel.main, root=str(host.root))
    assert (first["changed"], first["built"]) == (True, [f"vend/1.0 for {NEW}"])
    assert (first["refused"], first["missing"], first["initramfs"]) == ([], [], [])
    assert host.asked() == [f"install -m vend -v 1.0 -k {NEW}"]
    again = run_module(next_kernel.main, root=str(host.root))
    assert (again["changed"], again["built"], again["refused"]) == (False, [], [])
    assert len(host.asked()) == 1


def test_check_mode_tells_and_builds_nothing(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    reported = run_module(next_kernel.main, check=True, root=str(host.root))
    assert (reported["changed"], reported["built"]) == (True, [f"vend/1.0 for {NEW}"])
    assert (reported["refused"], [one["kind"] for one in reported["missing"]]) == ([], ["unbuilt"])
    assert host.asked() == []


def test_only_looking_fails_nothing_and_says_what_would_be_lost(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    reported = run_module(next_kernel.main, root=str(host.root), build=False)
    assert (reported["changed"], reported["built"], host.asked()) == (False, [], [])
    assert f"DKMS has not built vend/1.0 for {NEW}" in reported["refused"][0]


def test_without_headers_it_fails_and_names_their_package(run_module: Run, host: Host) -> None:
    failed = run_module(next_kernel.main, root=str(host.root))
    assert failed["failed"]
    assert f"DKMS has not built vend/1.0 for {NEW}: the kernel's headers" in failed["msg"]
    assert f"Next: install linux-headers-{NEW} (and linux-headers-amd64," in failed["msg"]
    assert (failed["changed"], host.asked()) == (False, [])
    waived = run_module(next_kernel.main, root=str(host.root), without=["vend"])
    assert (waived["changed"], waived["refused"]) == (False, [])


def test_a_build_that_fails_is_told_with_the_end_of_its_log(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    host.put("etc/ibready-sandbox/fail-dkms", "vend\n")
    failed = run_module(next_kernel.main, root=str(host.root))
    assert f"DKMS could not build vend/1.0 for {NEW} (status 10); /" in failed["msg"]
    assert "make.log says " in failed["msg"]
    assert "asks for this failure" in failed["msg"]
    assert (failed["built"], failed["changed"]) == ([], False)


def test_a_module_that_is_not_for_this_kernel(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    words = "Error! The /var/lib/dkms/vend/1.0/source/dkms.conf for module vend includes a"
    said = f"{words} BUILD_EXCLUSIVE directive which does not match this kernel/arch/config."
    status = f"vend/1.0, {OLD}, x86_64: installed"
    answers = f'[ "$1" = status ] && {{ echo "{status}"; exit; }}\necho "{said}" >&2\nexit 77'
    host.program("dkms", f"#!/bin/sh\n{answers}\n")
    failed = run_module(next_kernel.main, root=str(host.root))
    assert "its dkms.conf says so (BUILD_EXCLUSIVE)" in failed["msg"]


def test_files_that_are_gone_are_built_again(run_module: Run, host: Host) -> None:
    host.headers(NEW)
    run_module(next_kernel.main, root=str(host.root))
    for path in (host.root / f"lib/modules/{NEW}/updates").rglob("*.ko"):
        path.unlink()
    host.put(f"lib/modules/{NEW}/modules.dep", "kernel/fs/ext4.ko:\n")
    again = run_module(next_kernel.main, root=str(host.root))
    assert again["built"] == [f"vend/1.0 for {NEW}"]
    assert host.asked()[-1].endswith("--force")


@pytest.mark.parametrize(("own", "made"), [("vend-core", [NEW]), ("other", [])])
def test_the_initramfs_is_made_again_where_it_carries_the_kernels_own(
    run_module: Run, host: Host, tmp_path: Path, own: str, made: list[str]
) -> None:
    host.headers(NEW)
    host.put(f"lib/modules/{NEW}/modules.order", f"kernel/drivers/{own}.ko\n")
    log = tmp_path / "initramfs"
    host.program("update-initramfs", f'#!/bin/sh\necho "$*" >> {log}\n')
    built = run_module(next_kernel.main, root=str(host.root))
    assert built["initramfs"] == made
    assert log.exists() == bool(made)
    if made:
        assert log.read_text() == f"-u -k {NEW}\n"


def test_an_initramfs_that_could_not_be_made_is_made_by_the_next_run(
    run_module: Run, host: Host, tmp_path: Path
) -> None:
    host.headers(NEW)
    host.put(f"lib/modules/{NEW}/modules.order", "kernel/drivers/vend_core.ko\n")
    full = "#!/bin/sh\necho 'No space left on device' >&2\nexit 1\n"
    host.program("update-initramfs", full)
    failed = run_module(next_kernel.main, root=str(host.root))
    assert "ended with status 1: No space left on device" in failed["msg"]
    assert failed["changed"]
    assert run_module(next_kernel.main, root=str(host.root)).get("failed")
    log = tmp_path / "initramfs"
    host.program("update-initramfs", f'#!/bin/sh\necho "$*" >> {log}\n')
    assert run_module(next_kernel.main, check=True, root=str(host.root))["changed"]
    assert not log.exists()
    mended = run_module(next_kernel.main, root=str(host.root))
    assert (mended["changed"], mended["built"], mended["initramfs"]) == (True, [], [NEW])
    assert log.read_text() == f"-u -k {NEW}\n"
    again = run_module(next_kernel.main, root=str(host.root))
    assert (again["changed"], again["initramfs"]) == (False, [])


def test_a_container_boots_no_kernel(run_module: Run, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_kernel.kind, "container", lambda _evidence: "podman")
    reported = run_module(next_kernel.main, root=str(host.root))
    assert (reported["kernels"], reported["changed"], reported["refused"]) == ([], False, [])


def test_what_cannot_be_told_stops_the_host(run_module: Run, host: Host) -> None:
    host.program("dkms", "#!/bin/sh\necho 'Error! no tree' >&2\nexit 3\n")
    failed = run_module(next_kernel.main, root=str(host.root))
    assert "It cannot be told: dkms_status ended with status 3" in failed["msg"]
    reported = run_module(next_kernel.main, root=str(host.root), build=False)
    assert reported["unknown"]
