# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``df -k --output=fstype,size,avail,itotal,iavail,target --total``: what file systems have left."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, flat_lines, no_facts

_TOOL = "df"
_HEAD = "Type 1K-blocks Avail Inodes IFree Mounted on"
_ROW = re.compile(r"(\S{1,40}) (-|\d{1,18}) (-|-?\d{1,18}) (-|\d{1,18}) (-|\d{1,18}) (/.*|total)")
_END = "total"


@dataclass(frozen=True)
class FileSystem:
    """Sizes in KiB; inodes are 0 where the file system has no fixed number of them."""

    point: str
    kind: str
    size: int
    available: int
    inodes: int = 0
    inodes_free: int = 0


def parse(text: str) -> tuple[FileSystem, ...]:
    """Read each file system once; raise ParseError where a row is none, or the total at the end is not there."""
    lines = flat_lines(text)
    rows = [(line_no, line) for line_no, line in enumerate(lines, 1) if line]
    if not rows or rows[0][1] != _HEAD:
        raise no_facts(_TOOL, lines, "not the head of a table of file systems")
    found: dict[str, FileSystem] = {}
    for line_no, line in rows[1:]:
        match = _ROW.fullmatch(line)
        if match is None:
            raise ParseError(_TOOL, line_no, line, "not a file system's row")
        size, available, inodes, free = (0 if word == "-" else int(word) for word in match.group(2, 3, 4, 5))
        point = match.group(6)
        if point == _END:
            break
        found[point] = FileSystem(point, match.group(1), size, available, inodes, free)
    else:
        raise ParseError(_TOOL, len(lines), lines[-1], "the table ends before its total")
    if not found:
        raise ParseError(_TOOL, 0, "", "no file system")
    return tuple(found.values())
