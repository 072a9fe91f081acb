# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of packages, as Ubuntu, Debian and EL have them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import kernels


@pytest.mark.parametrize(
    ("name", "deb", "rpm"),
    [
        ("linux-image-generic", True, False),
        ("linux-image-generic-hwe-24.04", True, False),
        ("linux-headers-aws", True, False),
        ("linux-image-amd64", True, False),
        ("linux-image-6.8.0-31-generic", False, False),
        ("linux-image-unsigned-6.8.0-31-generic", False, False),
        ("linux-headers-6.8.0-31", False, False),
        ("linux-libc-dev", False, False),
        ("linux-firmware", False, False),
        ("kernel", False, True),
        ("kernel-core", False, True),
        ("kernel-devel-matched", False, True),
        ("kernel-uek-core", False, True),
        ("kernel-64k-modules", False, True),
        ("kernel-headers", False, False),
        ("kernel-tools-libs", False, False),
        ("kernel-srpm-macros", False, False),
    ],
)
def test_what_brings_a_kernel(name: str, deb: bool, rpm: bool) -> None:
    assert (kernels.DEB.fullmatch(name) is not None, kernels.RPM.fullmatch(name) is not None) == (deb, rpm)


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("nvidia-dkms-580-open", True),
        ("kmod-nvidia-open-dkms", True),
        ("mlnx-ofa_kernel-modules", True),
        ("kmod-mlnx-ofa_kernel", True),
        ("doca-kernel-5.14.0.427", True),
        ("linux-modules-nvidia-580-open-generic", True),
        ("kmod", False),
        ("kmod-libs", False),
        ("nvidia-utils-580", False),
        ("libnccl2", False),
    ],
)
def test_what_has_modules(name: str, has: bool) -> None:
    assert kernels.has_modules(name) is has
