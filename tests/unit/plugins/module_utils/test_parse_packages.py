# SPDX-License-Identifier: GPL-3.0-or-later
"""Package databases, depmod's list, and the versions in them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    dpkg_status,
    modules_dep,
    rpm_qa,
    version_text,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package, is_of_a_kernel

DPKG = """Package: rdma-core
Status: install ok installed
Architecture: amd64
Version: 50.0-2
Conffiles:
 /etc/rdma/modules/rdma.conf 1234
Description: RDMA core
 Package: not a field, but a line of the description
 .
 More of it.

Package: nvidia-dkms-580
Status: install ok half-configured
Architecture: amd64
Version: 580.105.08-1

Package: old
Status: deinstall ok config-files
Version: 1

Package: held
Status: hold ok installed
Version: 2:2.1

"""


def test_dpkg_tells_installed_and_half_installed_packages() -> None:
    assert dpkg_status.parse(DPKG) == (
        Package("rdma-core", "50.0-2", "amd64"),
        Package("nvidia-dkms-580", "580.105.08-1", "amd64", whole=False),
        Package("held", "2:2.1", ""),
    )


def test_a_package_that_must_be_reinstalled_is_not_whole() -> None:
    text = DPKG.replace("install ok installed", "install reinstreq installed")
    assert not dpkg_status.parse(text)[0].whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        DPKG.rstrip(),
        DPKG[:-1],
        DPKG[: len(DPKG) // 2],
        DPKG.replace("Status: install ok half-configured\n", ""),
        DPKG.replace("Package: held\n", ""),
        "garbage",
        "\n\n",
    ],
)
def test_a_dpkg_database_that_was_cut_or_bent_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        dpkg_status.parse(text)


def test_rpm_tells_every_package() -> None:
    assert rpm_qa.parse("rdma-core 54.0-1.el9 x86_64\ngpg-pubkey 1-2 (none)\n") == (
        Package("rdma-core", "54.0-1.el9", "x86_64"),
        Package("gpg-pubkey", "1-2", "(none)"),
    )


@pytest.mark.parametrize(
    "text",
    ["", "\n", "rdma-core 54.0-1.el9 x86_64\nlibibve", "error: cannot open Packages database\n"],
)
def test_a_list_of_rpms_that_was_cut_or_bent_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        rpm_qa.parse(text)


def test_depmod_tells_which_file_of_a_module_is_loaded() -> None:
    text = "updates/dkms/mlx5_core.ko.zst: a.ko\nkernel/drivers/net/nv-peer.ko:\nextra/x.ko.xz: \n"
    assert modules_dep.parse(text) == {
        "mlx5_core": "updates/dkms/mlx5_core.ko.zst",
        "nv_peer": "kernel/drivers/net/nv-peer.ko",
        "x": "extra/x.ko.xz",
    }


@pytest.mark.parametrize("text", ["", "updates/dkms/mlx5", "a line of another kind\n"])
def test_a_list_of_modules_that_was_cut_or_bent_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        modules_dep.parse(text)


@pytest.mark.parametrize(
    ("installed", "wanted", "result"),
    [
        ("1:2.28.3-1+cuda13.0", "2.28.3", True),
        ("13.0.2-1", "13.0", True),
        ("13.01", "13.0", False),
        ("580.105.08", "580", True),
        ("580.105.08", "580.95.05", False),
        ("5800.1", "580", False),
        ("3.2.1-044000", "3.2.1", True),
        ("3.2.10", "3.2.1", False),
        ("1.0", "", False),
    ],
)
def test_an_installed_version_fits_the_wanted_one(installed: str, wanted: str, result: bool) -> None:
    assert version_text.fits(installed, wanted) is result


def test_releases_of_one_stack_are_known_however_they_are_written() -> None:
    assert version_text.is_release("24.10-1.1.4")
    assert not version_text.is_release("5.0-0")
    assert not version_text.is_release("4.18.0-553.el8_10.x86_64")
    assert not version_text.is_release("")
    assert version_text.same_release("24.10-1.1.4", "24.10-1.1.4.0")
    assert not version_text.same_release("24.10-1.1.4", "24.10-2.1.8.0")
    assert not version_text.same_release("", "24.10-1.1.4.0")
    assert [version_text.train(one) for one in ("23.07-0.5.0", "5.8-3.0.7.0", "5.0-0")] == [
        "2307",
        "58",
        "",
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("linux-image-6.12.117+deb13-amd64", True),
        ("linux-headers-6.8.0-45-generic", True),
        ("linux-modules-nvidia-580-open-6.8.0-45-generic", True),
        ("kernel-devel-5.14.0-570.12.1.el9_6.x86_64", True),
        ("kmod-nvidia-latest-5.14.0-570.12.1", True),
        ("linux-image-amd64", False),
        ("cuda-compat-12.4.1", False),
        ("hpcx-2.24.1", False),
        ("openmpi-4.1.7rc1", False),
    ],
)
def test_a_package_is_of_a_kernel_by_its_own_name(name: str, found: bool) -> None:
    assert is_of_a_kernel(name) is found
