# SPDX-License-Identifier: GPL-3.0-or-later
"""What dnf and rpm must say of a converged node of the EL stand-in (a stand-in userland)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from testinfra.host import Host

# What must have come, by part of the lock.
PACKAGES = {
    "rdma": ["doca-ofed"],
    "driver": [
        "nvidia-open",
        "nvidia-driver",
        "nvidia-driver-cuda",
        "nvidia-driver-cuda-libs",
        "kmod-nvidia-open-dkms",
        "nvidia-persistenced",
    ],
    "fabric_manager": ["nvidia-fabricmanager"],
    "nscq": ["libnvidia-nscq"],
    "nccl": ["libnccl", "libnccl-devel"],
    "container_toolkit": [
        "nvidia-container-toolkit",
        "nvidia-container-toolkit-base",
        "libnvidia-container-tools",
        "libnvidia-container1",
    ],
}
NAMES = {name for names in PACKAGES.values() for name in names}
REPOSITORIES = ("doca", "cuda", "container_toolkit")


def upgrade(node: Host, *options: str) -> tuple[str, set[str]]:
    """All that `dnf upgrade` would say, and the packages in its table."""
    said = node.run(f"dnf {' '.join(options)} upgrade --assumeno")
    return said.stdout + said.stderr, set(re.findall(r"^ (\S+) +x86_64", said.stdout, re.MULTILINE))


@pytest.mark.parametrize("part", PACKAGES)
def test_the_packages_are_of_the_locked_versions(node: Host, stack: dict[str, Any], part: str) -> None:
    said = node.check_output("rpm -q --qf '%{VERSION}\\n' " + " ".join(PACKAGES[part]))
    (version,) = set(said.split())
    assert version == stack[part]["version"]


def test_every_package_of_the_stack_is_locked_at_its_version(node: Host) -> None:
    locks = set(node.file("/etc/dnf/plugins/versionlock.list").content_string.splitlines())
    form = "%{NAME}-%{EPOCHNUM}:%{VERSION}-%{RELEASE}.*\\n"
    assert set(node.check_output(f"rpm -q --qf '{form}' {' '.join(sorted(NAMES))}").split()) < locks


def test_an_upgrade_would_touch_nothing_and_only_the_locks_keep_it(node: Host) -> None:
    said, touched = upgrade(node)
    assert "Nothing to do" in said
    assert not touched
    # The repository has a fabric manager of a later branch, and no module stream keeps it away.
    assert "nvidia-fabricmanager" in upgrade(node, "--disableplugin=versionlock")[1]


def test_dnf_asks_for_no_key(node: Host) -> None:
    assert node.run("dnf check-update </dev/null").rc == 0


def test_the_driver_s_module_stream_is_the_planned_branch(node: Host, stack: dict[str, Any]) -> None:
    said = node.check_output("dnf --quiet module list --enabled")
    assert re.search(rf"^nvidia-driver +{stack['driver']['branch']}-open \[e\]", said, re.MULTILINE)


@pytest.mark.parametrize("name", REPOSITORIES)
def test_the_repositories_are_bound_to_the_vendors_keys(node: Host, name: str) -> None:
    text = node.file(f"/etc/yum.repos.d/ibready-{name}.repo").content_string
    assert {"gpgcheck=1", "repo_gpgcheck=1"} <= set(text.splitlines())
    (key,) = re.findall(r"^gpgkey=file://(/\S+)$", text, re.MULTILINE)
    assert node.file(key).content_string.startswith("-----BEGIN PGP PUBLIC KEY BLOCK-----")


def test_no_second_build_of_the_rdma_libraries_is_there(node: Host, stack: dict[str, Any]) -> None:
    train = stack["rdma"]["nic_driver"].partition("-")[0].replace(".", "")
    said = node.check_output("rpm -q --qf '%{VERSION}\\n' rdma-core libibverbs infiniband-diags")
    (version,) = set(said.split())
    assert version.startswith(train)


def test_the_programs_are_the_packages_own_unmodified_files(node: Host) -> None:
    assert node.check_output("command -v ibstat") == "/usr/sbin/ibstat"
    verified = node.run("rpm --verify infiniband-diags nvidia-driver-cuda").stdout.splitlines()
    assert [line for line in verified if "bin/" in line] == []
