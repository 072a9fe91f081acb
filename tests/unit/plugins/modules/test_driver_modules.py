# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that look at drivers, with programs that say what a test wants."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.driver import secure_boot as _secure_boot
from ansible_collections.ibready.cluster.plugins.modules import nvidia_modules, port_type, rdma_users, secure_boot

Run = Callable[..., dict[str, Any]]
Program = Callable[[str, str], None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Put a shell script into PATH."""
    home = tmp_path / "bin"
    home.mkdir()
    monkeypatch.setenv("PATH", f"{home}:{os.environ['PATH']}")

    def put(name: str, script: str) -> None:
        path = home / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return put


def root(tmp_path: Path) -> Path:
    home = tmp_path / "root"
    home.mkdir(exist_ok=True)
    return home


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_rdma_users(run_module: Run, program: Program, tmp_path: Path) -> None:
    program("modinfo", 'printf "filename:       /x.ko\\nversion:        25.10-3.1.8\\n"')
    home = root(tmp_path)
    put(home / "sys/module/mlx5_core/version", "24.10-1.1.4\n")
    put(home / "proc/modules", "nvidia_peermem 16384 0 - Live 0x0\n")
    result = run_module(rdma_users.main, root=str(home))
    assert (result["needed"], result["changed"]) == (True, False)
    assert result["why"] == ["mlx5_core 24.10-1.1.4 is loaded, 25.10-3.1.8 is installed"]
    assert "peer memory of the NVIDIA driver (module nvidia_peermem)" in result["why_not"][0]


CARD = "sys/bus/pci/devices/0000:18:00.0"


def a_card(tmp_path: Path) -> Path:
    home = root(tmp_path)
    put(home / CARD / "vendor", "0x15b3\n")
    put(home / CARD / "class", "0x020700\n")
    return home


MSTCONFIG = """
echo "$*" >> {log}
case "$*" in
*LINK_TYPE_P2*) echo "-E- The Device doesn't support LINK_TYPE_P2 parameter"; exit 3 ;;
*query*) echo "        LINK_TYPE_P1      IB(1)    ETH(2)     ETH(2)" ;;
esac
"""


@pytest.mark.parametrize(("apply", "check"), [(False, False), (True, True), (True, False)])
def test_a_port_type_is_written_only_with_consent(
    run_module: Run, program: Program, tmp_path: Path, apply: bool, check: bool
) -> None:
    log = tmp_path / "log"
    program("mstconfig", MSTCONFIG.format(log=log))
    home = a_card(tmp_path)
    result = run_module(port_type.main, check=check, type="infiniband", apply=apply, root=str(home))
    asked = log.read_text()
    assert ("set LINK_TYPE_P1=1" in asked) == (apply and not check)
    assert result["changed"] == apply
    if apply:
        assert result["wrong"] == []
        assert result["pending"] == ["0000:18:00.0 port 1 is ETH until the next boot"]
    else:
        assert result["wrong"] == ["0000:18:00.0 port 1 is ETH instead of IB"]


def test_a_card_that_cannot_be_asked_is_no_pass(run_module: Run, program: Program, tmp_path: Path) -> None:
    program("mstconfig", 'echo "-E- Failed to open the device"; exit 1')
    result = run_module(port_type.main, type="infiniband", root=str(a_card(tmp_path)))
    assert result["failed"]
    assert "Failed to open the device" in result["msg"]


def test_secure_boot_without_a_key_is_a_problem(run_module: Run, program: Program, tmp_path: Path) -> None:
    home = root(tmp_path)
    variable = home / _secure_boot.VARIABLE
    variable.parent.mkdir(parents=True)
    variable.write_bytes(b"\x06\0\0\0\x01")
    result = run_module(secure_boot.main, root=str(home))
    assert (result["enabled"], result["enrolled"]) == (True, None)
    assert "mokutil --import" in result["problem"]

    key, certificate = tmp_path / "MOK.priv", tmp_path / "MOK.der"
    given = {"root": str(home), "key": str(key), "certificate": str(certificate)}
    assert f"{key} is not on the host" in run_module(secure_boot.main, **given)["problem"]
    key.touch()
    certificate.touch()
    program("mokutil", 'echo "$2 is not enrolled"')
    result = run_module(secure_boot.main, **given)
    assert result["enrolled"] is False
    assert "MokManager" in result["problem"]
    program("mokutil", 'echo "$2 is already enrolled"; exit 1')
    result = run_module(secure_boot.main, **given)
    assert (result["enrolled"], result["problem"]) == (True, "")


def built(home: Path, name: str, version: str, at: float) -> Path:
    kernel = os.uname().release
    path = home / f"var/lib/dkms/{name}/{version}/{kernel}/x86_64/module/{name}.ko"
    put(path, "")
    os.utime(path, (at, at))
    return path


def test_modules_are_built_again_after_the_rdma_stack(run_module: Run, program: Program, tmp_path: Path) -> None:
    home = root(tmp_path)
    module = built(home, "nvidia", "580.173.02", 100)
    built(home, "mlnx-ofed-kernel", "25.10", 200)
    program("modinfo", "exit 1")
    log = tmp_path / "log"
    program("dkms", f'echo "$*" >> {log}')
    seen = run_module(nvidia_modules.main, check=True, root=str(home))
    assert (seen["changed"], log.exists()) == (True, False)
    assert "mlnx-ofed-kernel/25.10 was built" in seen["rebuilt"]
    # DKMS ends well and built nothing.
    failed = run_module(nvidia_modules.main, root=str(home))
    assert failed["failed"]
    assert "DKMS did not build nvidia/580.173.02" in failed["msg"]
    program("dkms", f'echo "$*" >> {log}; touch {module}')
    done = run_module(nvidia_modules.main, root=str(home))
    assert done["changed"]
    words = f"-m nvidia -v 580.173.02 -k {os.uname().release} --force"
    assert log.read_text().splitlines()[-2:] == [f"build {words}", f"install {words}"]
    assert not run_module(nvidia_modules.main, root=str(home))["changed"]


def test_nvidia_fs_is_built_again_after_the_driver(run_module: Run, program: Program, tmp_path: Path) -> None:
    home = root(tmp_path)
    built(home, "nvidia-fs", "2.26.6", 100)
    built(home, "nvidia", "580.173.02", 150)
    built(home, "mlnx-ofed-kernel", "25.10", 200)
    program("modinfo", "exit 1")
    log = tmp_path / "log"
    kernel = os.uname().release
    made = f"{home}/var/lib/dkms/$3/$5/{kernel}/x86_64/module/$3.ko"
    program("dkms", f'echo "$1 $3" >> {log}; sleep 0.01; touch {made}')
    done = run_module(nvidia_modules.main, root=str(home))
    assert log.read_text().splitlines() == ["build nvidia", "install nvidia", "build nvidia-fs", "install nvidia-fs"]
    assert f"nvidia/580.173.02 was built for {kernel} after nvidia-fs/2.26.6" in done["rebuilt"]
    assert not run_module(nvidia_modules.main, root=str(home))["changed"]


@pytest.mark.parametrize("broken", ["nvidia", "nvidia-fs"])
def test_a_build_that_fails_is_named(run_module: Run, program: Program, tmp_path: Path, broken: str) -> None:
    home = root(tmp_path)
    built(home, "nvidia-fs", "2.26.6", 100)
    built(home, "nvidia", "580.173.02", 150)
    built(home, "mlnx-ofed-kernel", "25.10", 200)
    program("modinfo", "exit 1")
    made = f"{home}/var/lib/dkms/$3/$5/{os.uname().release}/x86_64/module/$3.ko"
    program("dkms", f"sleep 0.01; [ $3 = {broken} ] || touch {made}")
    failed = run_module(nvidia_modules.main, root=str(home))
    assert failed["failed"]
    assert f"DKMS did not build {broken}/" in failed["msg"]


@pytest.mark.parametrize(
    ("loaded", "rival", "notice", "changed"),
    [
        ("", False, "", True),
        ("", True, "nouveau has the GPUs", False),
        ("580.126.20", False, "nvidia 580.126.20 is loaded, 580.173.02 is installed", False),
        ("580.173.02", False, "", False),
    ],
)
def test_a_driver_is_loaded_only_where_none_is(
    run_module: Run,
    program: Program,
    tmp_path: Path,
    loaded: str,
    rival: bool,
    notice: str,
    changed: bool,
) -> None:
    home = root(tmp_path)
    program("modinfo", "echo 580.173.02")
    version = home / "sys/module/nvidia/version"
    program("modprobe", f"mkdir -p {version.parent}; echo 580.173.02 > {version}")
    if loaded:
        put(version, f"{loaded}\n")
    if rival:
        (home / "sys/module/nouveau").mkdir(parents=True)
    result = run_module(nvidia_modules.main, root=str(home))
    assert result["changed"] == changed
    assert result["notice"].startswith(notice)
    assert bool(result["notice"]) == bool(notice)
    assert result["current"] == (not rival and loaded != "580.126.20")
