# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files, directories and links without ever blocking; what cannot be read is Unavailable."""

from __future__ import annotations

import os
from typing import BinaryIO

from .command import LIMIT, Unavailable, as_unavailable
from .regular import open_regular

_PIECE = 64 * 1024


def read_regular(place: str, what: str, missing: str = "no such file", limit: int | None = None) -> bytes:
    """Read a regular file of at most `limit` bytes (LIMIT); what could block is refused."""
    with as_unavailable(what, missing), open(open_regular(place), "rb", buffering=0) as stream:
        return _whole(stream, what, LIMIT if limit is None else limit)


def _whole(stream: BinaryIO, what: str, limit: int) -> bytes:
    """To the end, piece by piece: a buffer for the largest file is no use for a small one."""
    data = bytearray()
    while True:
        piece = stream.read(_PIECE)
        if not piece:
            return bytes(data)
        data += piece
        if len(data) > limit:
            raise Unavailable(what, f"holds more than {limit // (1024 * 1024)} MiB")


def list_names(place: str, what: str, missing: str = "no such directory") -> list[str]:
    """The sorted names in a directory; Unavailable on all that keeps from looking."""
    with as_unavailable(what, missing):
        return sorted(os.listdir(place))


def read_link(place: str, what: str, missing: str) -> str:
    """The text of a symbolic link, unresolved."""
    with as_unavailable(what, missing):
        if os.path.lexists(place) and not os.path.islink(place):
            raise Unavailable(what, "not a symbolic link")
        return os.readlink(place)
