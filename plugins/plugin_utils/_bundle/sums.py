# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of the files of a bundle, read from the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from . import layout

# What SHA256SUMS cannot hold, and what is left of an interrupted run.
_NOT = (layout.SUMS, layout.SIGNATURE)
PART = ".part"


def sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files(home: Path) -> list[str]:
    """The bundle's files as paths below ``home``, without hidden and half-written ones."""
    found = []
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        if path.is_file() and not hidden and not name.endswith(PART) and name not in _NOT:
            found.append(name)
    return found


def of(home: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: sha256(home / name) for name in names}
