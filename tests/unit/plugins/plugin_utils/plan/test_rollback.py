# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import files, lock as locks, rollback, where

OLD, NEW = "580.126.20", "580.173.02"


def one(version: str, *hosts: str) -> locks.Class:
    stack = {"driver": {"branch": "580", "version": version, "modules": "open"}}
    return locks.Class(hosts, "ubuntu24.04", "6.8", "x86_64", (), (), stack, "allowed", ())


def lock(day: int, **classes: locks.Class) -> locks.Lock:
    return locks.Lock(f"2026-11-0{day}T00:00:00+00:00", "m", classes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A site that moved from OLD to NEW."""
    place = tmp_path / locks.NAME
    old, new = lock(1, gpu=one(OLD, "a", "b")), lock(2, gpu=one(NEW, "a", "b"))
    files.write(place, None, old, {}, "1")
    files.write(place, old, new, {}, "1")
    return place


def test_the_way_back_and_forward_again(path: Path) -> None:
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    found = rollback.read(path, rollback.PREVIOUS)
    assert rollback.differences(found) == [f"gpu: driver {NEW} open -> {OLD} open"]
    assert rollback.digests(found, ["a"]) == {"a": one(OLD).digest}
    rollback.swap(found, {}, "1")
    after = locks.read(path)
    assert after is not None
    assert after.classes["gpu"].stack["driver"]["version"] == OLD
    sbom = json.loads((path.parent / "stack.sbom.cdx.json").read_text())
    assert OLD in json.dumps(sbom)
    # By habit, or after a lost connection.
    with pytest.raises(rollback.RollbackError, match="newer than the lock"):
        rollback.read(path, rollback.PREVIOUS)
    rollback.swap(rollback.read(path, rollback.NEXT), {}, "1")
    assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before
    with pytest.raises(rollback.RollbackError, match="nothing was rolled back"):
        rollback.read(path, rollback.NEXT)


def test_locks_stay_until_every_host_is_back(path: Path) -> None:
    found = rollback.read(path, rollback.PREVIOUS)
    assert rollback.absent(found, ["a"]) == ["b"]
    assert rollback.absent(found, ["a", "b"]) == []
    # One that is the same in both locks need take no part; one that joined would be lost.
    more = replace(found.current, classes={**found.current.classes, "cpu": one(OLD, "c")})
    same = replace(found.other, classes={**found.other.classes, "cpu": one(OLD, "c")})
    assert rollback.absent(replace(found, current=more, other=same), ["a", "b"]) == []
    assert rollback.absent(replace(found, current=more), ["a", "b"]) == ["c"]


def test_nothing_to_go_back_to_is_told_with_the_next_step(path: Path) -> None:
    found = rollback.read(path, rollback.PREVIOUS)
    with pytest.raises(rollback.RollbackError, match=r"late: not in .*previous.*--limit"):
        rollback.digests(found, ["a", "late"])
    path.with_name(locks.PREVIOUS).unlink()
    with pytest.raises(rollback.RollbackError, match="stack_rollback_to=bare"):
        rollback.read(path, rollback.PREVIOUS)
    path.unlink()
    with pytest.raises(rollback.RollbackError, match="there is no lock"):
        rollback.read(path, rollback.PREVIOUS)


def test_hosts_are_judged_by_the_lock_that_they_go_to(path: Path) -> None:
    given = {where.LOCK_FILE: str(path)}
    assert where.said_of("a", given)["stack"]["driver"]["version"] == NEW
    given[where.ROLLBACK_LOCK] = str(path.with_name(locks.PREVIOUS))
    assert where.said_of("a", given)["stack"]["driver"]["version"] == OLD


@pytest.mark.parametrize(
    ("rdma", "train"),
    [
        ({"flavour": "mlnx_ofed", "version": "23.10-0.5.5.0"}, "xx.39"),
        ({"flavour": "inbox", "version": ""}, ""),
        ({"flavour": "mlnx_ofed", "version": "1.2-3"}, ""),
    ],
)
def test_hosts_are_told_which_firmware_their_stack_brings(rdma: dict[str, str], train: str, path: Path) -> None:
    before = locks.read(path)
    assert before is not None
    mine = replace(before.classes["gpu"], stack={**before.classes["gpu"].stack, "rdma": rdma})
    path.write_text(locks.text(replace(before, classes={**before.classes, "gpu": mine})))
    assert where.said_of("a", {where.LOCK_FILE: str(path)})["firmware"] == train
