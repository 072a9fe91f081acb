# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host could have of its own archive, by the lists that it has."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import offers
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._parse import modules_dep

MADISON = """\
nvidia-open-kernel-dkms | 550.163.01-4~bpo13+1 | http://mirror/debian trixie-backports/contrib amd64 Packages
nvidia-open-kernel-dkms | 550.163.01-2 | http://mirror/debian trixie/contrib amd64 Packages
"""
NAMES = ["nvidia-kernel-dkms", "nvidia-open-kernel-dkms"]


def asked(names: Sequence[str], answer: Output | Unavailable) -> tuple[dict[str, list[str]], str]:
    def run(argv: Sequence[str], timeout: float) -> Output:
        if isinstance(answer, Unavailable):
            raise answer
        return answer

    return offers.offered(names, run)


def test_versions_are_told_and_what_no_list_has_is_told_too() -> None:
    versions = {"nvidia-kernel-dkms": [], "nvidia-open-kernel-dkms": ["550.163.01-4~bpo13+1", "550.163.01-2"]}
    assert asked(NAMES, Output(0, MADISON, "")) == (versions, "")
    assert asked([], Output(0, MADISON, "")) == ({}, "")


def test_where_nobody_could_look_the_reason_is_told() -> None:
    assert asked(NAMES, Missing("apt-cache", "not found")) == ({}, "")
    found, why = asked(NAMES, Unavailable("apt-cache", "it did not end"))
    assert found == {}
    assert "it did not end" in why
    assert asked(NAMES, Output(100, "", "E: the lists are torn")) == (
        {},
        "apt-cache madison ended with status 100: E: the lists are torn",
    )


def test_a_module_is_found_in_the_file_that_debian_renamed() -> None:
    files = modules_dep.parse(
        "updates/dkms/nvidia-current-open.ko.xz:\nupdates/dkms/nvidia-current-open-peermem.ko.xz:\n"
        "kernel/drivers/gpu/drm/nouveau/nouveau.ko.xz:\n"
    )
    assert modules_dep.file_of(files, "nvidia") == "updates/dkms/nvidia-current-open.ko.xz"
    assert modules_dep.file_of(files, "nvidia_peermem") == "updates/dkms/nvidia-current-open-peermem.ko.xz"
    assert modules_dep.file_of(files, "nvidia_uvm") == ""
    assert modules_dep.file_of({**files, "nvidia": "extra/nvidia.ko"}, "nvidia") == "extra/nvidia.ko"
    tesla = modules_dep.parse("updates/dkms/nvidia-tesla-535.ko:\n")
    assert modules_dep.file_of(tesla, "nvidia") == "updates/dkms/nvidia-tesla-535.ko"
