# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules that DKMS built, on a kernel of their own: refused by Secure Boot, enrolled, loaded, and without a GPU.

The GPU is simulated and never starts; what driver, kernel, shim and nvidia-smi say of it is theirs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

SERIES = {"stack_driver": "535"}
_PASSWORD = "only-once-1"
# NVIDIA has no DOCA for Debian 13, so a row of the site's own says that there is one; nothing of it is ever fetched.
_ROW = {
    "flavour": "doca",
    "version": "3.2.0",
    "nic_driver": "25.10-1.2.8.0",
    "systems": ["debian13"],
    "source": "a stand-in of the tests",
    "confidence": "medium",
}
DOCA = {
    "stack_rdma_flavour": "doca",
    "stack_rdma_version": "3.2.0",
    "stack_driver": "none",
    "stack_repositories": {"doca": {"base": "http://127.0.0.1:9/doca", "fingerprints": ["A" * 40]}},
}
# What DKMS builds stands for the modules of DOCA, and says so.
STAND_IN = "ibready_stands_for_doca"
_SOURCE = f"/usr/src/{STAND_IN}-1.0"
_FILES = {
    "dkms.conf": f"""PACKAGE_NAME="{STAND_IN}"
PACKAGE_VERSION="1.0"
BUILT_MODULE_NAME[0]="{STAND_IN}"
DEST_MODULE_LOCATION[0]="/updates/dkms"
AUTOINSTALL="yes"
""",
    "Makefile": f"obj-m := {STAND_IN}.o\n",
    f"{STAND_IN}.c": """#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("ibready's stand-in for a module of DOCA-OFED: it does nothing");
""",
}


@pytest.fixture(scope="module")
def refused(machine: Any) -> Any:
    """A machine whose firmware does not know the site's key."""
    assert machine.root("mokutil --sb-state").strip() == "SecureBoot enabled"
    assert "nvidia" not in machine.root("lsmod")
    return machine


@pytest.fixture(scope="module")
def enrolled(refused: Any) -> Any:
    """The same after a person enrolled the key at the console."""
    refused.root(f"printf '%s\\n' {_PASSWORD} {_PASSWORD} | mokutil --import {refused.certificate}")
    refused.enrol(_PASSWORD)
    return refused


@pytest.fixture(scope="module")
def built(machine: Any) -> str:
    """The stand-in, built on the host by DKMS as it builds DOCA's; who signed it."""
    machine.root(f"install -d {_SOURCE}")
    for name, text in _FILES.items():
        machine.root(f"cat > {_SOURCE}/{name} <<'END'\n{text}END")
    machine.root(f"dkms install {STAND_IN}/1.0")
    return str(machine.root(f"modinfo -F signer {STAND_IN}")).strip()


def named(machine: Any, *areas: str) -> dict[str, tuple[Any, str]]:
    """Every finding of these areas: its observed value and cause, by id."""
    return {
        check["id"]: (check["observed"], check["cause"])
        for check in machine.checks(*areas)
        if check["result"] == "fail"
    }


def test_a_driver_whose_key_nobody_enrolled_is_refused_and_the_check_says_so(refused: Any) -> None:
    assert "Key was rejected by service" in refused.host.run("modprobe nvidia").stderr
    found = named(refused, "host", "gpu", "pci")
    observed, cause = found["host.boot.secure_boot"]
    assert observed == "on, nvidia not loaded"
    assert "Loading of module with unavailable key is rejected" in cause
    assert "couldn't communicate with the NVIDIA driver" in found["gpu.driver.answers"][0]
    assert found["pci.gpu.driver"][0] == "no driver"


def test_the_role_changes_nothing_and_names_the_step_that_is_missing(refused: Any) -> None:
    before = refused.root("dpkg-query -W; find /etc -newer /etc/hostname -type f | sort | xargs sha256sum")
    done = refused.converge(**SERIES)
    assert done.returncode != 0
    assert f"the key {refused.certificate} is not enrolled" in done.stdout
    assert f"mokutil --import {refused.certificate}" in done.stdout
    assert refused.root("dpkg-query -W; find /etc -newer /etc/hostname -type f | sort | xargs sha256sum") == before


def test_the_role_tells_a_key_that_waits_for_the_boot(refused: Any) -> None:
    refused.root(f"printf '%s\\n' {_PASSWORD} {_PASSWORD} | mokutil --import {refused.certificate}")
    try:
        done = refused.converge(**SERIES)
    finally:
        refused.root("mokutil --revoke-import")
    assert done.returncode != 0
    assert "waits for the next boot" in done.stdout


def test_doca_is_refused_before_anything_changes_and_the_missing_step_is_named(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "rdma.yml").write_text(yaml.safe_dump({"releases": {"doca-3.2.0": _ROW}}))
    listed = "dpkg-query -W; find /etc -newer /etc/hostname -type f | sort | xargs sha256sum"
    before = refused.root(listed)
    done = refused.converge(tags="rdma_packages", stack_matrix=[str(tmp_path)], **DOCA)
    assert done.returncode != 0
    assert "doca 3.2.0" in done.stdout
    assert f"the key {refused.certificate} is not enrolled" in done.stdout
    assert f"mokutil --import {refused.certificate}" in done.stdout
    assert refused.root(listed) == before


def test_what_dkms_built_for_it_is_refused_by_the_kernel(refused: Any, built: str) -> None:
    assert built == "SITE"
    assert "Key was rejected by service" in refused.host.run(f"modprobe {STAND_IN}").stderr


def test_with_the_key_enrolled_the_kernel_takes_what_stands_for_doca(enrolled: Any, built: str) -> None:
    enrolled.root(f"modprobe {STAND_IN}")
    assert STAND_IN in enrolled.root("lsmod")
    assert "host.boot.secure_boot" not in named(enrolled, "host")


def test_with_the_key_enrolled_the_kernel_takes_the_driver(enrolled: Any) -> None:
    version = enrolled.root("dpkg-query -W -f '${source:Upstream-Version}' nvidia-tesla-535-kernel-dkms").strip()
    assert f" {version} " in enrolled.root("cat /proc/driver/nvidia/version")
    assert "Kernel driver in use: nvidia" in enrolled.root("lspci -k -d 10de:")
    assert "host.boot.secure_boot" not in named(enrolled, "host")
    done = enrolled.converge(**SERIES)
    assert done.returncode == 0, done.stdout


def test_a_gpu_that_the_loaded_driver_cannot_start_is_named(enrolled: Any) -> None:
    assert "No devices were found" in enrolled.host.run("nvidia-smi").stdout
    found = named(enrolled, "host", "gpu", "pci")
    assert found["gpu.device.count"] == ("0", "No devices were found")
    assert found["pci.gpu.listed"][0] == "on the bus, not listed by nvidia-smi"
    assert "RmInitAdapter failed" in found["host.dmesg.kernel_warnings"][0]


def test_nouveau_in_the_way_is_named(enrolled: Any) -> None:
    enrolled.root("systemctl stop nvidia-persistenced; modprobe -r nvidia_uvm; rmmod nvidia")
    enrolled.root("modprobe nouveau modeset=1")
    found = named(enrolled, "host")
    assert found["host.module.nouveau"][0] == "nouveau loaded"


def test_without_a_gpu_on_the_bus_the_driver_finds_none(enrolled: Any) -> None:
    enrolled.start("--without-gpu")
    assert "No such device" in enrolled.host.run("modprobe nvidia").stderr
    assert "NVRM: No NVIDIA GPU found." in enrolled.root("dmesg")
    assert "a GPU is not even on the PCI bus" in named(enrolled, "gpu")["gpu.device.count"][1]
