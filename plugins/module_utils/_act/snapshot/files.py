# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the managed files of a node, and bring them back to what they were."""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import stat
from dataclasses import dataclass
from typing import Iterable, Sequence

from ..._data.managed_files import LEFT_OUT, MANAGED
from ..._ground import whole
from ..._ground.state import below
from ..packages.model import PackageError
from .model import FILE, LINK, Persisted, Snapshot


@dataclass(frozen=True)
class Move:
    """A file that goes back; None where it is not, or was not, there."""

    path: str
    now: Persisted | None
    then: Persisted | None


def read(globs: Iterable[str], root: str = "/") -> dict[str, Persisted]:
    """All files and links that fit, by their path on the node; PackageError for an unreadable."""
    found = {}
    for pattern in globs:
        for place in glob.glob(below(root, pattern)):
            path = "/" + os.path.relpath(place, root)
            kept = None if path in LEFT_OUT else _read(place)
            if kept is not None:
                found[path] = kept
    return found


def _read(place: str) -> Persisted | None:
    try:
        reported = os.lstat(place)
        if stat.S_ISLNK(reported.st_mode):
            target = os.fsencode(os.readlink(place))
            return Persisted(LINK, target, 0o777, reported.st_uid, reported.st_gid)
        if not stat.S_ISREG(reported.st_mode):
            return None
        with open(place, "rb") as stream:
            data = stream.read()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise PackageError("failed", f"{place} cannot be read: {exc.strerror}", "look at it on the host") from exc
    return Persisted(FILE, data, stat.S_IMODE(reported.st_mode), reported.st_uid, reported.st_gid)


def missing_folders(globs: Iterable[str], root: str = "/") -> tuple[str, ...]:
    """The folders of managed files that are not there, the outermost first."""
    found: dict[str, None] = {}
    for pattern in globs:
        folder = os.path.dirname(pattern)
        way = []
        while folder != "/" and not glob.has_magic(folder):
            if not os.path.lexists(below(root, folder)):
                way.append(folder)
            folder = os.path.dirname(folder)
        found.update(dict.fromkeys(reversed(way)))
    return tuple(found)


def moves(snapshot: Snapshot, root: str = "/") -> list[Move]:
    """What differs from the snapshot, by path."""
    now = read(snapshot.globs, root)
    return [
        Move(path, now.get(path), snapshot.files.get(path))
        for path in sorted({*now, *snapshot.files})
        if now.get(path) != snapshot.files.get(path)
    ]


def is_repository(path: str) -> bool:
    """Whether the package manager reads it."""
    return any(entry.repository and fnmatch.fnmatchcase(path, entry.glob) for entry in MANAGED)


def to_tell(changed: Iterable[Move]) -> set[str]:
    """Who has to be told of changed files (managed_files.SYSTEMD and so on)."""
    paths = [move.path for move in changed]
    return {
        entry.tell for entry in MANAGED if entry.tell and any(fnmatch.fnmatchcase(path, entry.glob) for path in paths)
    }


def put(path: str, kept: Persisted | None, root: str = "/") -> None:
    """Write a file or link whole or not at all; None removes it. Raises PackageError."""
    place = below(root, path)
    try:
        if kept is None:
            whole.remove(place)
            return
        whole.make_folder(os.path.dirname(place))
        owner = (kept.uid, kept.gid)
        if kept.kind != LINK:
            whole.put(place, kept.data, kept.mode, owner)
            return
        staged = whole.beside(place)
        os.symlink(os.fsdecode(kept.data), staged)
        try:
            os.lchown(staged, *owner)
        except OSError:
            whole.drop(staged)
            raise
        whole.settle(staged, place)
    except OSError as exc:
        raise PackageError(
            "failed",
            f"{path} cannot be put back: {exc.strerror}",
            "see that its folder can be written and has space, and run this again",
            changed=True,
        ) from exc


def remove_folders(folders: Sequence[str], root: str = "/") -> None:
    """Remove those that are empty, the innermost first."""
    for folder in sorted(folders, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rmdir(below(root, folder))


def shown(kept: Persisted | None) -> str:
    """A file in a diff: its owner and mode where that is not the usual, and its text."""
    if kept is None:
        return ""
    head = "" if (kept.uid, kept.gid) == (0, 0) else f"owner {kept.uid}:{kept.gid}\n"
    if kept.kind == LINK:
        return f"{head}link to {os.fsdecode(kept.data)}\n"
    head += f"mode {kept.mode:04o}\n"
    try:
        return head + kept.data.decode("utf-8")
    except UnicodeDecodeError:
        return f"{head}{len(kept.data)} bytes\n"
