# SPDX-License-Identifier: GPL-3.0-or-later
"""The snapshots of a node below /var/lib/ibready/snapshots: written whole or not at all.

A snapshot is a folder NUMBER-DIGEST with one file, that carries the sha256 of its content.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from typing import Container

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.model import (
    BARE,
    Snapshot,
    State,
)

HOME = "/var/lib/ibready/snapshots"
SCHEMA = "ibready/snapshot/1"
_FILE = "snapshot.json"
_SUBJECT = "stack"
_NAME = re.compile(r"([0-9]+)-([0-9A-Za-z]+)")


def names(root: str = "/") -> list[tuple[int, str]]:
    """Number and digest of every snapshot, oldest first."""
    try:
        found = os.listdir(_state.below(root, HOME))
    except OSError:
        return []
    matches = [match for match in map(_NAME.fullmatch, found) if match]
    return sorted((int(one.group(1)), one.group(2)) for one in matches)


def newest(digest: str, root: str = "/") -> Snapshot | None:
    """The last snapshot of a digest, None where there is none; PackageError for a damaged one."""
    numbers = [number for number, of in names(root) if of == digest]
    return load(f"{numbers[-1]}-{digest}", root) if numbers else None


def load(name: str, root: str = "/") -> Snapshot:
    path = os.path.join(_state.below(root, HOME), name, _FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            raw = json.load(stream)
        if raw["schema"] != SCHEMA or raw["sha256"] != _sum(raw["snapshot"]):
            raise ValueError("its content is not what its checksum says")
        return Snapshot.parse(raw["snapshot"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise PackageError(
            "broken",
            f"the snapshot {path} cannot be read ({exc})",
            "converge the host with the lock that is wanted instead of rolling it back",
        ) from exc


def save(snapshot: Snapshot, keep: int, root: str = "/", *, needed: str = "") -> None:
    """Write it, and remove the oldest until ``keep`` are there.

    Those of the bare host and of the digest ``needed`` stay.
    """
    home = _state.below(root, HOME)
    try:
        _state.make_folder(os.path.dirname(home))
        os.makedirs(home, mode=0o700, exist_ok=True)
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
        _sync(home)
        for number, digest in _surplus(names(root), keep, {BARE, needed}):
            shutil.rmtree(os.path.join(home, f"{number}-{digest}"), ignore_errors=True)
    except OSError as exc:
        raise PackageError(
            "disk",
            f"the snapshot of this host cannot be kept below {home}: {exc.strerror}",
            "see that the place can be written and has space; without a snapshot nothing could be"
            " put back",
        ) from exc


def _surplus(
    found: list[tuple[int, str]], keep: int, needed: Container[str]
) -> list[tuple[int, str]]:
    extra = max(0, len(found) - keep)
    return [one for one in found[:-1] if one[1] not in needed][:extra]


def _sum(body: object) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _sync(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)


def state(root: str = "/") -> State:
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
