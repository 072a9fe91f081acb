# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep an engine and its compiled code where only we write; whatever cannot be kept is sent again."""

from __future__ import annotations

import contextlib
import marshal
import os

from . import bootstrap

# What somebody begins to write; what stays was cut off.
_BEGUN = ".part"


def keep(place: str, digest: str, archive: bytes, codes: dict[str, bytes]) -> None:
    """Write both whole or not at all, and take away what is kept of other engines.

    Nothing is a reason to fail: the answer is given by now.
    """
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
        inside = _entered(place)
        try:
            for name in os.listdir(inside):
                if not name.startswith(digest) or name.endswith(_BEGUN):
                    with contextlib.suppress(OSError):
                        os.unlink(name, dir_fd=inside)
            # The code first: an engine that is there is expected to start fast.
            body = marshal.dumps(codes)
            _write(inside, bootstrap.code_name(digest), bootstrap.sealed(digest, body) + body)
            if bootstrap.kept(place, digest) != archive:
                _write(inside, digest, archive)
        finally:
            os.close(inside)


def _entered(place: str) -> int:
    """A handle of the folder; empties it first where it was open to others."""
    with contextlib.suppress(PermissionError):
        return bootstrap.entered(place)
    inside = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(inside).st_uid == os.geteuid():
            os.fchmod(inside, 0o700)
            for name in os.listdir(inside):
                os.unlink(name, dir_fd=inside)
    finally:
        os.close(inside)
    return bootstrap.entered(place)


def _write(inside: int, name: str, data: bytes) -> None:
    begun = f"{name}.{os.getpid()}{_BEGUN}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(begun, flags, 0o600, dir_fd=inside), "wb") as stream:
            stream.write(data)
        os.replace(begun, name, src_dir_fd=inside, dst_dir_fd=inside)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(begun, dir_fd=inside)
        raise
