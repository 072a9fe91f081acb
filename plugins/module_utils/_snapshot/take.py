# SPDX-License-Identifier: GPL-3.0-or-later
"""When a snapshot is due, and taking it: before a node leaves what it was last brought to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from ansible_collections.ibready.cluster.plugins.module_utils._data.managed_files import MANAGED
from ansible_collections.ibready.cluster.plugins.module_utils._packages import ledger
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot import files, store
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.model import (
    BARE,
    UNKNOWN,
    Snapshot,
    State,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.pool import Pool


@dataclass(frozen=True)
class Departure:
    """What a node does on its way to a digest. ``due``: a snapshot, of the digest ``label``.

    ``moving``: it is not at the digest yet. ``then``: its state from now on.
    """

    moving: bool
    due: bool
    label: str
    then: State


def at(root: str) -> State:
    """Where the node is; BARE where ibready never was, UNKNOWN where it was and did not say."""
    state = store.state(root)
    if state.digest or state.towards:
        return state
    return State(UNKNOWN if ledger.names(root) else BARE)


def departure(state: State, digest: str) -> Departure:
    """What a node at ``state`` does on its way to a digest."""
    if state.digest == digest and not state.towards:
        return Departure(False, False, digest, state)
    # A node that is on its way somewhere is of no plan: its last snapshot is the one to keep.
    then = State(state.digest, digest, state.left)
    return Departure(True, not state.towards, state.digest, then)


def take(pool: Pool, digest: str, *, keep: int, check: bool) -> tuple[Departure, str, bool]:
    """Set out for a digest: the departure, the snapshot's name, and whether anything changed."""
    state = at(pool.root)
    due = departure(state, digest)
    if not due.due:
        if due.then != state and not check:
            store.remember(due.then, pool.root)
        return due, state.left, due.then != state
    snapshot = look(pool, due.label)
    if not check:
        store.save(snapshot, keep, pool.root, needed=digest)
        store.remember(State(due.label, digest, snapshot.name), pool.root)
    return due, snapshot.name, True


def look(pool: Pool, digest: str) -> Snapshot:
    """The node as it is now."""
    root = pool.root
    globs = tuple(one.glob for one in MANAGED)
    numbers = [number for number, _digest in store.names(root)]
    return Snapshot(
        max(numbers, default=0) + 1,
        digest,
        datetime.now(timezone.utc).isoformat(timespec="seconds"),
        pool.packages(),
        globs,
        files.read(globs, root),
        files.missing_folders(globs, root),
    )


def settle(digest: str, root: str, *, check: bool) -> bool:
    """The node is at this digest now; whether that is new."""
    new = State(digest)
    old = store.state(root)
    if old.digest == digest and not old.towards:
        return False
    if not check:
        store.remember(new, root)
    return True
