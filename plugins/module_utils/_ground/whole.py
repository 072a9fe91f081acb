# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a file so that it is whole and there for good, whenever the power fails.

The content goes onto the disk beside the file, with its mode and owner, takes the file's name in
one step, and the folder goes onto the disk with it. Nothing is left of what fails, on a full disk
either.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Optional, Tuple

# User and group by number; None: whoever writes.
Owner = Optional[Tuple[int, int]]
# No program takes up hidden files, or names that end so.
_PREFIX, _SUFFIX = ".ibready-", ".tmp"


def put(path: str, data: bytes, mode: int | None = None, owner: Owner = None) -> None:
    """Replace ``path``, whose folder is there. ``mode`` None: what the umask leaves.

    Raises OSError; what was there then stays, unless the disk failed after the last step.
    """
    settle(stage(path, data, mode, owner), path)


def stage(path: str, data: bytes, mode: int | None = None, owner: Owner = None) -> str:
    """Put the content onto the disk beside ``path`` for `settle`; returns where. Raises OSError."""
    staged = beside(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(staged, flags, 0o666 if mode is None else 0o600)
    try:
        with open(handle, "wb") as stream:
            if owner is not None:
                os.fchown(handle, *owner)
            if mode is not None:
                os.fchmod(handle, mode)
            stream.write(data)
            stream.flush()
            os.fsync(handle)
    except BaseException:
        drop(staged)
        raise
    return staged


def beside(path: str) -> str:
    """A name of its own in the folder of ``path``."""
    return os.path.join(os.path.dirname(path), f"{_PREFIX}{os.urandom(8).hex()}{_SUFFIX}")


def settle(staged: str, path: str) -> None:
    """Give what lies beside ``path`` its name, for good; it is gone where OSError is raised."""
    try:
        os.replace(staged, path)
    except BaseException:
        drop(staged)
        raise
    sync(os.path.dirname(path))


def drop(staged: str) -> None:
    """Remove what is not to be kept, as far as that goes."""
    with contextlib.suppress(OSError):
        os.unlink(staged)


def make_folder(path: str) -> None:
    """Make a directory, and those above it, where there is none: 0755, whatever the umask is.

    Services that are not root read below such directories. Raises OSError.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above != path:
        make_folder(above)
    try:
        os.mkdir(path)
    except FileExistsError:
        if os.path.isdir(path):  # another process was first
            return
        raise
    os.chmod(path, 0o755)
    sync(above)


def remove(path: str) -> None:
    """Remove a file, where there is one, for good. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
        sync(os.path.dirname(path))


def sync(folder: str) -> None:
    """Have the names in a folder outlast a loss of power. Raises OSError."""
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as exc:
        if exc.errno != errno.EINVAL:  # a file system that has no such thing
            raise
    finally:
        os.close(handle)
