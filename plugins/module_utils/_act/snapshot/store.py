# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshots of a node below /var/lib/ibready/snapshots: when one is due, taken, and written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Container

from ..._data.managed_files import MANAGED
from ..._ground import state as _state, strict, whole
from ..._ground.regular import open_regular
from ..packages import ledger
from ..packages.model import PackageError
from . import files
from .model import BARE, UNKNOWN, Pool, Snapshot, State

HOME = "/var/lib/ibready/snapshots"
SCHEMA = "ibready/snapshot/1"
_FILE = "snapshot.json"
_SUBJECT = "stack"
_NAME = re.compile(r"([0-9]+)-([0-9A-Za-z]+)")


def names(root: str = "/") -> list[tuple[int, str]]:
    """Number and digest of every snapshot, oldest first; PackageError where nobody can tell."""
    found = ledger.names_in(_state.below(root, HOME))
    matches = [match for match in map(_NAME.fullmatch, found) if match]
    return sorted((int(match.group(1)), match.group(2)) for match in matches)


def following(root: str = "/") -> int:
    """The number of the next one."""
    return max((number for number, _digest in names(root)), default=0) + 1


def newest(digest: str, root: str = "/") -> Snapshot | None:
    """The last snapshot of a digest, None where there is none; PackageError for a damaged one."""
    numbers = [number for number, of in names(root) if of == digest]
    return load(f"{numbers[-1]}-{digest}", root) if numbers else None


def load(name: str, root: str = "/") -> Snapshot:
    path = os.path.join(_state.below(root, HOME), name, _FILE)
    try:
        with open(open_regular(path), encoding="utf-8") as stream:
            raw = strict.loads(stream.read())
        if raw["schema"] != SCHEMA or raw["sha256"] != _sum(raw["snapshot"]):
            raise ValueError("its content is not what its checksum says")
        return Snapshot.parse(raw["snapshot"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise PackageError(
            "broken",
            f"the snapshot {path} cannot be read ({exc})",
            "converge the host with the lock that is wanted instead of rolling it back",
        ) from exc


def save(snapshot: Snapshot, keep: int, root: str = "/", *, needed: str = "") -> Snapshot:
    """Write it under the next number, and remove the oldest until ``keep`` are there.

    Those of the bare host and of the digest ``needed`` stay. Returns it with its number: another
    process may have saved one since it was taken.
    """
    home = _state.below(root, HOME)
    try:
        with _state.locked(home):
            return _save(snapshot, keep, root, {BARE, needed})
    except (OSError, _state.StateError) as exc:
        raise PackageError(
            "disk",
            f"the snapshot of this host cannot be kept below {home}: {getattr(exc, 'strerror', None) or exc}",
            "see that the place can be written and has space; without a snapshot nothing could be put back",
        ) from exc


def _save(snapshot: Snapshot, keep: int, root: str, needed: Container[str]) -> Snapshot:
    home = _state.below(root, HOME)
    snapshot = replace(snapshot, number=following(root))
    for name in os.listdir(home):
        if name.startswith(".new-"):
            shutil.rmtree(os.path.join(home, name), ignore_errors=True)
    staged = tempfile.mkdtemp(prefix=".new-", dir=home)
    try:
        body = snapshot.to_dict()
        text = json.dumps({"schema": SCHEMA, "sha256": _sum(body), "snapshot": body}, indent=1)
        _state.write(os.path.join(staged, _FILE), text + "\n", 0o600)
        os.rename(staged, os.path.join(home, snapshot.name))
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    whole.sync(home)
    for number, digest in _surplus(names(root), keep, needed):
        shutil.rmtree(os.path.join(home, f"{number}-{digest}"), ignore_errors=True)
    return snapshot


def _surplus(found: list[tuple[int, str]], keep: int, needed: Container[str]) -> list[tuple[int, str]]:
    extra = max(0, len(found) - keep)
    return [item for item in found[:-1] if item[1] not in needed][:extra]


def _sum(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def kept_state(root: str = "/") -> State:
    """What the node is at; PackageError where nobody can tell."""
    try:
        known = _state.load(_SUBJECT, root)
        unexpected = [key for key in known if key not in ("digest", "towards", "left")]
        if unexpected:
            raise _state.StateError(f"{_SUBJECT}.json holds {unexpected[0]!r}")
        return State(**{key: str(value) for key, value in known.items()})
    except _state.StateError as exc:
        raise PackageError("broken", str(exc), "remove it, and converge the host anew") from exc


def remember(new: State, root: str = "/") -> None:
    try:
        _state.save(_SUBJECT, new.to_dict(), root)
    except _state.StateError as exc:
        raise PackageError("disk", str(exc), "see that it can be written and has space") from exc


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
    state = kept_state(root)
    if state.digest or state.towards:
        return state
    return State(UNKNOWN if ledger.names(root) else BARE)


def _departure(state: State, digest: str) -> Departure:
    """What a node at ``state`` does on its way to a digest."""
    if state.digest == digest and not state.towards:
        return Departure(False, False, digest, state)
    # A node that is on its way somewhere is of no plan: its last snapshot is the one to keep.
    then = State(state.digest, digest, state.left)
    return Departure(True, not state.towards, state.digest, then)


def take(pool: Pool, digest: str, *, keep: int, check: bool) -> tuple[Departure, str, bool]:
    """Set out for a digest: the departure, the snapshot's name, and whether anything changed."""
    state = at(pool.root)
    due = _departure(state, digest)
    if not due.due:
        if due.then != state and not check:
            remember(due.then, pool.root)
        return due, state.left, due.then != state
    snapshot = _look(pool, due.label)
    if not check:
        snapshot = save(snapshot, keep, pool.root, needed=digest)
        remember(State(due.label, digest, snapshot.name), pool.root)
    return due, snapshot.name, True


def _look(pool: Pool, digest: str) -> Snapshot:
    """The node as it is now."""
    root = pool.root
    globs = tuple(entry.glob for entry in MANAGED)
    return Snapshot(
        following(root),
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
    old = kept_state(root)
    if old.digest == digest and not old.towards:
        return False
    if not check:
        remember(new, root)
    return True
