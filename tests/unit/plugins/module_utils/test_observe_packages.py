# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of packages is all of them, or the reason why nobody knows."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from tests.gauntlet.tree import Tree

NAMES = ("bash", "glibc", "kernel", "kernel", "rpm", "zlib")
LIST = tuple(f"{name} {at}.1-1 x86_64" for at, name in enumerate(NAMES))
STATUS = "".join(
    f"Package: {name}\nStatus: install ok installed\nVersion: 1\n\n"
    for name in ("bash", "dpkg", "libc6", "libibverbs1", "libnccl2", "zlib1g")
)


def rpm(names: str = "\n".join(NAMES) + "\n", count: int = len(LIST), stderr: str = "") -> Tree:
    tree = Tree()
    tree.command("rpm_qa", "".join(f"{line}\n" for line in LIST[:count]), 0, stderr)
    tree.command("rpm_names", names)
    return tree


def test_rpm_tells_what_it_tells_twice() -> None:
    # In whichever order: nothing says that it is the same.
    found = packages.rpm(rpm("\n".join(reversed(NAMES)) + "\n")).value
    assert found is not None
    assert [one.name for one in found] == list(NAMES)


@pytest.mark.parametrize("count", range(len(LIST)))
def test_an_rpm_list_that_ends_early_is_no_list(count: int) -> None:
    reported = packages.rpm(rpm(count=count))
    assert (reported.value, reported.missing) == (None, False)
    names = [line.split()[0] for line in LIST[:count]]
    again = packages.rpm(rpm("".join(f"{name}\n" for name in names)))
    assert (again.value, again.missing) == (None, False)
    assert f"rpm lists 6 packages, and asked again {count}" in again.why


@pytest.mark.parametrize("count", range(NAMES.index("rpm") + 1))
def test_a_damaged_database_of_rpm_s_is_no_list_though_it_tells_it_twice(count: int) -> None:
    reported = packages.rpm(rpm("".join(f"{name}\n" for name in NAMES[:count]), count))
    assert (reported.value, reported.missing) == (None, False)


@pytest.mark.parametrize("lost", ["bash", "glibc", "rpm"])
def test_what_rpm_needs_is_in_every_list(lost: str) -> None:
    tree = rpm("".join(f"{name}\n" for name in NAMES if name != lost))
    tree.command("rpm_qa", "".join(f"{line}\n" for line in LIST if not line.startswith(f"{lost} ")))
    why = f"it lacks {lost}, without which rpm cannot run; it ends with zlib: see `rpm --verifydb`"
    assert packages.rpm(tree).why.endswith(why)


@pytest.mark.parametrize("lost", ["dpkg", "libc6", "zlib1g"])
def test_what_dpkg_needs_is_in_every_list(lost: str) -> None:
    tree = Tree()
    tree.file(packages.DPKG, STATUS.replace(f"Package: {lost}\n", "Package: other\n"))
    assert f"it lacks {lost}, without which dpkg cannot run" in packages.dpkg(tree).why


def test_what_rpm_could_not_read_is_not_absent() -> None:
    said = "error: rpmdbNextIterator: skipping h#     12 blob size(1): BAD, 8 + 16 * il(1) + dl(2)\n"
    reported = packages.rpm(rpm(stderr=said))
    assert reported.value is None
    assert "skipping h#" in reported.why
    assert packages.rpm(rpm(stderr="warning: Found bdb_ro Packages database\n")).known


def test_rpm_that_cannot_be_asked_again_tells_nothing() -> None:
    tree = rpm()
    tree.broken["rpm_names"] = "gave no complete answer within 60 s"
    assert "within 60 s" in packages.rpm(tree).why


def test_a_bundle_from_before_has_one_list() -> None:
    tree = rpm()
    del tree.commands["rpm_names"]
    assert not packages.rpm(tree).known
    tree.recorded = True
    tree.broken["rpm_names"] = "not in the bundle"
    assert packages.rpm(tree).known


def test_dpkgs_database_is_read_to_its_end() -> None:
    tree = Tree()
    tree.file(packages.DPKG, STATUS)
    assert len(packages.dpkg(tree).value or ()) == 6
    for end in range(len(STATUS)):
        tree.file(packages.DPKG, STATUS[:end].encode())
        reported = packages.dpkg(tree)
        assert (reported.value, reported.missing) == (None, False), STATUS[:end]
    cut = STATUS[: STATUS.index("Package: libnccl2")]
    tree.file(packages.DPKG, cut)
    assert packages.dpkg(tree).why.endswith(
        "it lacks zlib1g, without which dpkg cannot run; it ends with libibverbs1: see `dpkg --audit`"
    )
    assert packages.dpkg(Tree()).missing
