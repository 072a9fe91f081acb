# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of packages is all of them, or the reason why nobody knows."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import packages
from tests.gauntlet.tree import Tree

LIST = ("bash 5.1-1 x86_64", "kernel 5.14-1 x86_64", "kernel 5.14-2 x86_64", "zlib 1.2-1 x86_64")
STATUS = "".join(
    f"Package: {name}\nStatus: install ok installed\nVersion: 1\n\n"
    for name in ("bash", "libibverbs1", "libnccl2", "zlib1g")
)


def rpm(names: str = "bash\nkernel\nkernel\nzlib\n", count: int = len(LIST), stderr: str = "") -> Tree:
    tree = Tree()
    tree.command("rpm_qa", "".join(f"{line}\n" for line in LIST[:count]), 0, stderr)
    tree.command("rpm_names", names)
    return tree


def test_rpm_tells_what_it_tells_twice() -> None:
    # In whichever order: nothing says that it is the same.
    found = packages.rpm(rpm("zlib\nkernel\nbash\nkernel\n")).value
    assert found is not None
    assert [one.name for one in found] == ["bash", "kernel", "kernel", "zlib"]


@pytest.mark.parametrize("count", range(len(LIST)))
def test_an_rpm_list_that_ends_early_is_no_list(count: int) -> None:
    reported = packages.rpm(rpm(count=count))
    assert (reported.value, reported.missing) == (None, False)
    names = [line.split()[0] for line in LIST[:count]]
    again = packages.rpm(rpm("".join(f"{name}\n" for name in names)))
    assert (again.value, again.missing) == (None, False)
    assert f"rpm lists 4 packages, and asked again {count}" in again.why


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
    assert len(packages.dpkg(tree).value or ()) == 4
    for end in range(len(STATUS)):
        tree.file(packages.DPKG, STATUS[:end].encode())
        reported = packages.dpkg(tree)
        assert (reported.value, reported.missing) == (None, False), STATUS[:end]
    cut = STATUS[: STATUS.index("Package: libnccl2")]
    tree.file(packages.DPKG, cut)
    assert packages.dpkg(tree).why.endswith("after libibverbs1: dpkg cannot run without zlib1g")
    assert packages.dpkg(Tree()).missing
