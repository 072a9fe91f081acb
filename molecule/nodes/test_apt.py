# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt and dpkg must say of a converged node."""

from __future__ import annotations

from typing import Any

import pytest
from testinfra.host import Host

# What must have come, by part of the lock.
PACKAGES = {
    "rdma": ["doca-ofed"],
    "driver": [
        "nvidia-open-580",
        "nvidia-utils-580",
        "nvidia-dkms-580-open",
        "nvidia-persistenced",
    ],
    "fabric_manager": ["nvidia-fabricmanager"],
    "nscq": ["libnvidia-nscq"],
    "nccl": ["libnccl2", "libnccl-dev"],
    "toolkit": [
        "nvidia-container-toolkit",
        "nvidia-container-toolkit-base",
        "libnvidia-container-tools",
        "libnvidia-container1",
    ],
}


@pytest.mark.parametrize("part", ["rdma", "driver", "fabric_manager", "nscq", "nccl"])
def test_the_packages_are_of_the_locked_versions(node: Host, stack: dict[str, Any], part: str) -> None:
    for name in PACKAGES[part]:
        package = node.package(name)
        assert package.is_installed, name
        assert package.version.startswith(stack[part]["version"]), package.version


def test_all_four_packages_of_the_container_toolkit_are_of_one_version(node: Host, stack: dict[str, Any]) -> None:
    said = node.check_output("dpkg-query -W -f '${Version}\\n' " + " ".join(PACKAGES["toolkit"]))
    (version,) = set(said.split())
    assert version.startswith(stack["container_toolkit"]["version"])


def test_no_upgrade_would_touch_the_stack(node: Host) -> None:
    held = set(node.check_output("apt-mark showhold").split())
    assert {"doca-ofed", "nvidia-open-580", "nvidia-fabricmanager", "libnccl2"} <= held
    planned = node.check_output("apt-get --simulate dist-upgrade").splitlines()
    touched = {line.split()[1] for line in planned if line.startswith(("Inst ", "Remv "))}
    assert not touched & {name for names in PACKAGES.values() for name in names}


def test_the_repositories_are_bound_to_the_vendors_keys(node: Host) -> None:
    folder = node.file("/etc/apt/sources.list.d")
    ours = [f"ibready-{one}.list" for one in ("doca", "cuda", "container_toolkit")]
    assert set(ours) <= set(folder.listdir())
    for name in ours:
        text = node.file(f"/etc/apt/sources.list.d/{name}").content_string
        assert "signed-by=/" in text or "Signed-By: /" in text


def test_ibstat_is_the_package_s_own_unmodified_program(node: Host) -> None:
    path = node.check_output("command -v ibstat")
    assert path == "/usr/sbin/ibstat"
    verified = node.run("dpkg --verify infiniband-diags").stdout.splitlines()
    assert [line for line in verified if "bin/" in line] == []
