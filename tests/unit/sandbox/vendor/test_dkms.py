# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox.vendor.programs import dkms
from sandbox.vendor.programs.dkms import Failure, Module

K = "6.8.0-88-generic"
OFED = Module("mlnx-ofed-kernel", "25.10")
DRIVER = Module("nvidia", "580.173.02")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(dkms, "ROOT", str(tmp_path))
    source(tmp_path, OFED, {"ib_core": "version: 25.10\nexports: ib_register_peer_memory_client\n"})
    peermem = (
        "if-exported ib_register_peer_memory_client needs: ib_register_peer_memory_client\n"
        "unless-exported ib_register_peer_memory_client init: Invalid argument\n"
    )
    source(tmp_path, DRIVER, {"nvidia": "license: none\n", "nvidia-peermem": peermem})
    headers(tmp_path)
    return tmp_path


def headers(root: Path) -> None:
    (root / "lib/modules" / K / "build").mkdir(parents=True)


def source(root: Path, module: Module, fields: dict[str, str]) -> None:
    folder = root / "usr/src" / f"{module.name}-{module.version}"
    (folder / "modules").mkdir(parents=True)
    lines = [f'PACKAGE_NAME="{module.name}"', f"PACKAGE_VERSION={module.version}"]
    for index, (name, text) in enumerate(fields.items()):
        lines += [f'BUILT_MODULE_NAME[{index}]="{name}"', f"BUILT_MODULE_LOCATION[{index}]=modules"]
        (folder / "modules" / f"{name}.fields").write_text(text)
    (folder / "dkms.conf").write_text("\n".join(lines) + "\n")


def run(*args: str) -> None:
    dkms.main([*args, "-k", K] if args[0] != "status" else list(args))


def installed(root: Path, name: str) -> str:
    return (root / "lib/modules" / K / "updates/dkms" / f"{name}.ko").read_text()


def test_a_module_says_what_it_is_and_for_which_kernel(root: Path) -> None:
    run("install", str(OFED))
    lines = installed(root, "ib_core").splitlines()
    assert lines[0].startswith("SIMULATED")
    assert "version: 25.10" in lines
    assert f"vermagic: {K} SMP preempt mod_unload modversions" in lines


def test_peermem_knows_whether_ofed_was_there_when_it_was_built(root: Path) -> None:
    run("install", str(DRIVER))
    assert "init: Invalid argument" in installed(root, "nvidia-peermem")
    run("install", str(OFED))
    assert "init: Invalid argument" in installed(root, "nvidia-peermem")
    run("install", str(DRIVER), "--force")
    assert "needs: ib_register_peer_memory_client" in installed(root, "nvidia-peermem")


def test_without_headers_nothing_is_built(root: Path) -> None:
    (root / "lib/modules" / K / "build").rmdir()
    with pytest.raises(Failure, match="kernel headers") as raised:
        run("install", str(OFED))
    assert raised.value.status == 21
    assert not (root / "lib/modules" / K / "updates").exists()


def test_a_build_fails_where_it_is_asked_to(root: Path) -> None:
    (root / "etc/ibready-sandbox").mkdir(parents=True)
    (root / "etc/ibready-sandbox/fail-dkms").write_text("nvidia\n")
    run("install", str(OFED))
    with pytest.raises(Failure, match="Bad return status") as raised:
        run("install", str(DRIVER))
    assert raised.value.status == 10
    log = root / "var/lib/dkms" / str(DRIVER) / "build/make.log"
    assert "fail-dkms asks for this failure" in log.read_text()


def test_the_tree_is_as_dkms_keeps_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("add", str(OFED))
    assert os.readlink(root / "var/lib/dkms" / str(OFED) / "source") == ("/usr/src/mlnx-ofed-kernel-25.10")
    run("install", "-m", OFED.name, "-v", OFED.version)
    link = root / f"var/lib/dkms/mlnx-ofed-kernel/kernel-{K}-{dkms.machine()}"
    assert os.readlink(link) == f"25.10/{K}/{dkms.machine()}"
    capsys.readouterr()
    run("status")
    assert capsys.readouterr().out == f"mlnx-ofed-kernel/25.10, {K}, {dkms.machine()}: installed\n"


def test_an_old_version_goes_without_taking_the_new_one_s_module(root: Path) -> None:
    newer = Module(OFED.name, "25.11")
    source(root, newer, {"ib_core": "version: 25.11\n"})
    run("install", str(OFED))
    run("install", str(newer))
    run("remove", str(OFED), "--all")
    assert "version: 25.11" in installed(root, "ib_core")
    run("remove", str(newer), "--all")
    assert not (root / "lib/modules" / K / "updates/dkms/ib_core.ko").exists()
    assert not (root / "var/lib/dkms" / OFED.name).exists()


def test_autoinstall_builds_ofed_before_those_who_build_upon_it(root: Path) -> None:
    run("add", str(DRIVER))
    run("add", str(OFED))
    run("autoinstall")
    assert "needs: ib_register_peer_memory_client" in installed(root, "nvidia-peermem")
