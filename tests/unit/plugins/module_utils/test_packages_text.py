# SPDX-License-Identifier: GPL-3.0-or-later
"""What apt, dnf and rpm print, and what is made of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import (
    apt_text,
    dnf_text,
    failures,
    files,
    run,
)
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf_host import DnfHost
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import (
    Change,
    Installed,
    Part,
    Pin,
    Wanted,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output

# apt 3.0.3, Debian 13.
APT = """\
Reading package lists...
The following packages will be REMOVED:
  mlnx-ofed-all
The following packages will be DOWNGRADED:
  libnvidia-compute-580
1 upgraded, 1 newly installed, 1 downgraded, 1 to remove and 0 not upgraded.
Remv mlnx-ofed-all [24.10-3.2.5.0]
Inst libibverbs1 [56.1-1] (2510mlnx54-1.2510318 DOCA-HOST 3.2.3:x [amd64]) []
Inst libnvidia-compute-580 [580.173.02-1ubuntu1] (580.126.20-1ubuntu1 NVIDIA CUDA [amd64])
Inst perl-base [5.36.0-7+deb12u2] (5.36.0-7+deb12u3 Debian-Security:12/stable-security [amd64])
Inst libnccl2 (2.28.3-1+cuda13.0 NVIDIA CUDA [amd64])
Conf libnccl2 (2.28.3-1+cuda13.0 NVIDIA CUDA [amd64])
"""


def test_a_simulation_of_apt() -> None:
    found = {one.name: one for one in apt_text.simulated(APT)}
    assert [(one.name, one.act) for one in found.values()] == [
        ("mlnx-ofed-all", "removed"),
        ("libibverbs1", "upgraded"),
        ("libnvidia-compute-580", "downgraded"),
        ("perl-base", "upgraded"),
        ("libnccl2", "installed"),
    ]
    assert found["libibverbs1"] == Change("libibverbs1", "56.1-1", "2510mlnx54-1.2510318", "amd64")


@given(st.text())
def test_any_text_for_apt_is_read_or_refused(text: str) -> None:
    apt_text.versions(text)
    apt_text.sizes([Change("a", "1", "")], text)
    apt_text.complaints(text)
    for parse in (apt_text.simulated, apt_text.installed):
        try:
            parse(text)
        except apt_text.TextError:
            continue


def test_a_line_of_apt_that_is_not_understood_is_named() -> None:
    with pytest.raises(apt_text.TextError, match="Inst something"):
        apt_text.simulated("Inst something else\n")


SHOWN = """\
Package: libibverbs1
Version: 2510mlnx54-1.2510318
Installed-Size: 300
Filename: ./libibverbs1_2510mlnx54-1.2510318_amd64.deb
Size: 70000

Package: libibverbs1
Status: install ok installed
Installed-Size: 190
Version: 56.1-1

Package: mlnx-ofed-all
Installed-Size: 12
Version: 24.10

Package: perl-base
Installed-Size: 7000
Version: 5.40
Size: 1600000

Package: perl-base
Status: install ok installed
Installed-Size: 7000
Version: 5.40
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([Change("libibverbs1", "", "2510mlnx54-1.2510318")], (70000, 300 * 1024)),
        ([Change("libibverbs1", "56.1-1", "2510mlnx54-1.2510318")], (70000, 110 * 1024)),
        ([Change("mlnx-ofed-all", "24.10", "")], (0, -12 * 1024)),
        ([Change("perl-base", "", "5.40"), Change("mlnx-ofed-all", "24.10", "")], (1600000, 6988 * 1024)),
        ([], (0, 0)),
    ],
)
def test_the_sizes_that_the_indexes_tell(changes: list[Change], expected: tuple[int, int]) -> None:
    assert apt_text.sizes(changes, SHOWN) == expected


@pytest.mark.parametrize("change", [Change("nobody-knows", "1", "2"), Change("libibverbs1", "", "56.1-1")])
def test_a_package_whose_size_nobody_tells_is_named(change: Change) -> None:
    with pytest.raises(apt_text.TextError, match=f"no size of {change.name} {change.after}"):
        apt_text.sizes([change], SHOWN)


def test_the_packages_of_dpkg() -> None:
    text = "hold ok installed a amd64 1\ninstall ok half-configured b all 2\n"
    text += "deinstall ok config-files c amd64 3\ninstall ok triggers-pending d amd64 4\n"
    text += "install reinstreq half-installed e amd64 5\ninstall ok half-installed f amd64 6\n"
    assert apt_text.installed(text) == (
        Installed("a", "1", "amd64", held=True),
        Installed("b", "2", "all", whole=False),
        Installed("d", "4", "amd64"),
        Installed("e", "5", "amd64", whole=False, torn=True),
        Installed("f", "6", "amd64", whole=False, torn=True),
    )


def test_what_dpkg_gives_as_the_reason_is_told() -> None:
    text = "Setting up a (1) ...\ndpkg: error processing package a (--configure):\n"
    text += " installed a package post-installation script subprocess returned error exit status 7\n"
    text += "Errors were encountered while processing:\n a\nE: Sub-process failed\n"
    assert "exit status 7" in failures.said(text)


# dnf 4.23.
DNF = """\
Dependencies resolved.
================================================================================
 Package           Architecture Version                  Repository        Size
================================================================================
Installing:
 clash             noarch       3:1-1.el9                ibready-x        5.5 k
 a-very-long-package-name-that-does-not-fit-in-its-column
                   noarch       3:580.173.02-1.el9       ibready-x        5.6 k
     replacing  old-tool.noarch 1-1
Upgrading:
 nvidia-open       noarch       3:580.173.02-1.el9       ibready-x        5.5 k
Downgrading:
 libnccl           x86_64       2.28.3-1+cuda13.0        ibready-cuda     200 M
Removing dependent packages:
 site-tool         noarch       1-1                      @ibready-x         0

Transaction Summary
================================================================================
Install    2 Packages
Upgrade    1 Package
Downgrade  1 Package
Remove     1 Package

Total download size: 1.5 M
Installed size: 4.0 k
Operation aborted.
"""
HAVE = {
    "nvidia-open": Installed("nvidia-open", "3:580.126.20-1.el9"),
    "libnccl": Installed("libnccl", "2.28.9-1+cuda13.0"),
    "site-tool": Installed("site-tool", "1-1"),
    "old-tool": Installed("old-tool", "1-1"),
}


def test_a_transaction_of_dnf() -> None:
    found = {one.name: (one.act, one.before, one.after) for one in dnf_text.transaction(DNF, HAVE)}
    assert found == {
        "clash": ("installed", "", "3:1-1.el9"),
        "a-very-long-package-name-that-does-not-fit-in-its-column": (
            "installed",
            "",
            "3:580.173.02-1.el9",
        ),
        "old-tool": ("removed", "1-1", ""),
        "nvidia-open": ("upgraded", "3:580.126.20-1.el9", "3:580.173.02-1.el9"),
        "libnccl": ("downgraded", "2.28.9-1+cuda13.0", "2.28.3-1+cuda13.0"),
        "site-tool": ("removed", "1-1", ""),
    }
    assert dnf_text.sizes(DNF) == (1572864, 4096)


@given(st.text())
def test_any_text_for_dnf_is_read_or_refused(text: str) -> None:
    dnf_text.sizes(text)
    dnf_text.lock(text)
    for parse in (dnf_text.packages, lambda one: dnf_text.transaction(one, HAVE)):
        try:
            parse(text)
        except dnf_text.TextError:
            continue


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("580.126.20-1.el9", "580.173.02-1.el9"),
        ("9-1", "10-1"),
        ("99-1", "1:1-1"),
        ("1.0~rc1-1", "1.0-1"),
        ("1.0-1", "1.0^git1-1"),
        ("1.0-1", "1.0.1-1"),
        ("1.a-1", "1.1-1"),
        ("2.28.3-1+cuda13.0", "2.28.9-1+cuda13.0"),
        ("1.0-1", "1.0-2"),
    ],
)
def test_versions_are_ordered_as_rpm_does(older: str, newer: str) -> None:
    assert (dnf_text.compare(older, newer), dnf_text.compare(newer, older)) == (-1, 1)


@given(st.text(alphabet="0123456789ab.~^-:", max_size=12))
def test_a_version_equals_itself(text: str) -> None:
    assert dnf_text.compare(text, text) == 0


@given(
    st.text(alphabet="019ab.~^", max_size=8),
    st.text(alphabet="019ab.~^", max_size=8),
)
def test_two_versions_are_ordered_the_same_from_both_sides(one: str, other: str) -> None:
    assert dnf_text.compare(one, other) == -dnf_text.compare(other, one)


def test_our_locks_leave_the_operators_alone() -> None:
    theirs = "# Added lock on Fri\nkernel-0:5.14.0-427.*\nmy-tool\n"
    have = {"a": Installed("a", "3:1-1"), "b": Installed("b", "2-1")}
    text = dnf_text.edit_locks(theirs, ["a", "b"], [], have)
    assert dnf_text.our_locks(text) == {"a": "3:1-1", "b": "2-1"}
    assert dnf_text.foreign_locks(text) == ["kernel", "my-tool"]
    assert text.startswith(theirs)
    moved = dnf_text.edit_locks(text, ["a"], ["b"], {"a": Installed("a", "3:2-1")})
    assert dnf_text.our_locks(moved) == {"a": "3:2-1"}
    assert dnf_text.edit_locks(moved, [], ["a"], have) == theirs


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("E: You don't have enough free space in /var/cache/apt/archives/.", "disk"),
        ("Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 3", "lock"),
        ("W: GPG error: http://x ./ InRelease: NO_PUBKEY 0123456789ABCDEF", "key"),
        ("Error: GPG check FAILED", "key"),
        ("E: Failed to fetch http://x/Packages  Hash Sum mismatch", "checksum"),
        ("Err:1 http://x ./ InRelease Could not resolve 'x'", "unreachable"),
        ("E: Unable to locate package doca-ofed", "version"),
        ("Error! Bad return status for module build on kernel: 6.12.117+deb13-amd64 (x86_64)", "dkms"),
        ("E: Unable to correct problems, you have held broken packages.", "conflict"),
        ("something else", "failed"),
    ],
)
def test_words_lead_to_a_cause(words: str, kind: str) -> None:
    error = failures.explain(words, doing="reading")
    assert error.kind == kind
    assert re.sub("^E: |^Error[!:] ", "", words)[:20] in str(error)


def test_pins_name_versions_and_repositories() -> None:
    part = Part(
        "nvidia_driver",
        (Wanted("nvidia-open-580", "580.126.20"),),
        (Pin(("libnvidia-*", "nvidia-*"), "580.126.20"), Pin(("mft",))),
    )
    (repository,) = [files.Repository("cuda", "apt", "https://mirror:8443/cuda/", "file:///k", ("A" * 40,))]
    text = files.preferences(part, [repository])
    assert "Package: libnvidia-* nvidia-*\nPin: version /^([0-9]+:)?580\\.126\\.20($|" in text
    assert 'Package: mft\nPin: origin "mirror"\nPin-Priority: 1001\n' in text
    assert files.preferences(Part("nccl", (Wanted("libnccl2"),)), [repository]) == ""


@pytest.mark.parametrize("site", [False, True], ids=["plan", "site"])
def test_dnf_sweeps_only_the_files_of_whose_visit_it_is(tmp_path: Path, site: bool) -> None:
    (tmp_path / "etc/yum.repos.d").mkdir(parents=True)
    for name in ("doca", "site-docker"):
        (tmp_path / f"etc/yum.repos.d/ibready-{name}.repo").touch()
    host = DnfHost(lambda argv: Output(0, "", ""), str(tmp_path))
    host.site = site
    gone = [one.path for one in host.files((), ())]
    assert gone == [f"/etc/yum.repos.d/ibready-{'site-docker' if site else 'doca'}.repo"]


def test_what_a_program_prints_without_end_is_kept_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_KEPT", 6)
    assert run.run(["printf", "123456"]).stdout == "123456"
    found = run.run(["printf", "1234567"]).stdout
    assert found == "123456\nprintf printed more than 6 bytes, and the rest is not read\n"
