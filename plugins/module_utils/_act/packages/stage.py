# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder where package files wait to be carried to the controller; only root writes to it.

It lies where nobody else can make it first, and has one name, so that a next run goes on with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil

from ..._ground import state, whole
from .model import PackageError

HOME = f"{state.DIRECTORY}/bundle-files"
_CHUNK = 1024 * 1024


def sha256(path: str) -> str:
    """The SHA256 of a file, "" where there is none; raises OSError where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            for block in iter(lambda: stream.read(_CHUNK), b""):
                digest.update(block)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    return digest.hexdigest()


def make(home: str = HOME) -> None:
    """Have the folder, which who logs in may read; PackageError where it cannot be made."""
    try:
        whole.make_folder(home)
    except OSError as exc:
        raise PackageError("disk", f"{home}: {exc.strerror}", "free some space there") from exc


def room(home: str, need: int, spare: int = 300 * 2**20) -> None:
    """PackageError (disk) unless ``need`` bytes fit, with ``spare`` left."""
    free = shutil.disk_usage(home).free
    if free < need + spare:
        raise PackageError(
            "disk",
            f"no room for the package files: {home} has {free // 2**20} MiB free, and"
            f" {-(-need // 2**20)} MiB are needed, with {spare // 2**20} MiB to spare",
            "free some space there",
        )


def clean(home: str = HOME) -> bool:
    """Remove the folder, and the one above if nothing else lies there; whether it was there."""
    there = os.path.isdir(home)
    if there:
        shutil.rmtree(home)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(home))
    return there
