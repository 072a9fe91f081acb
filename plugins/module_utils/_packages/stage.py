# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder where package files wait to be carried to the controller; only root writes to it."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat

from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import PackageError

HOME = "/var/tmp/ibready-bundle"
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
    """Have the folder; PackageError where somebody else made something of that name."""
    try:
        os.mkdir(home, 0o755)
    except FileExistsError:
        there = os.lstat(home)
        if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
            raise PackageError(
                "failed", f"{home} is not a folder of root's", "see whose it is, and remove it"
            ) from None
    except OSError as exc:
        raise PackageError("disk", f"{home}: {exc.strerror}", "free some space there") from exc
    os.chmod(home, 0o755)


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
    """Remove the folder; whether it was there."""
    there = os.path.isdir(home) and not os.path.islink(home)
    if there:
        shutil.rmtree(home)
    return there
