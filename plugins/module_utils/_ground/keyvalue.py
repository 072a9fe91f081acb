# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of ``name = value`` lines, some of them ours: read, and parted from the lines of others; no I/O.

Lines end at a newline and nowhere else, and of two that set the same the last counts. Files that are
read otherwise (nccl.conf, slurm.conf) have readers of their own.
"""

from __future__ import annotations

import re
from typing import Iterable, Pattern

from .text import HostFileError

LINE = re.compile(r"(?P<head>\s*(?P<name>[A-Za-z][A-Za-z0-9_]*)\s*=[ \t]*)(?P<value>.*?)\s*")
_UNTOLD = "what of the rest is ours cannot be told. Next: take out the rest of the block with that line"
_PIECE = re.compile(r"[^\n]*\n|[^\n]+")


class ConfError(ValueError):
    """What cannot be written, or a file that cannot be changed without guessing; the message says why."""


class ConfFileError(ConfError, HostFileError):
    """What others wrote into the file leaves no place for ours."""


def lines(text: str) -> list[str]:
    """The lines with their ends; whatever else the text holds, they are it."""
    return _PIECE.findall(text)


def settings(found: Iterable[str], line: Pattern[str] = LINE) -> dict[str, str]:
    """What lines set, by name."""
    matches = (line.fullmatch(entry) for entry in found)
    return {match["name"]: match["value"] for match in matches if match is not None}


def refuse(name: str, value: str, names: Pattern[str]) -> None:
    """ConfError for what makes no line; an empty value makes one."""
    if not names.fullmatch(name):
        raise ConfError(f"{name!r} is no name of a setting")
    if not value.isprintable() or value != value.strip():
        raise ConfError(f"{name}: the value {value!r} does not fit on a line")


def parts(text: str, begin: str, end: str, *, strict: bool = True) -> tuple[list[str], list[str], list[str]]:
    """The lines of others above our block, ours, and those of others below.

    ConfFileError for a block without its end and, where ``strict``, for an end without its block.
    """
    above: list[str] = []
    within: list[str] = []
    below: list[str] = []
    inside = blocks = 0
    for number, line in enumerate(lines(text), 1):
        mark = line.strip()
        if inside and mark != end:
            within.append(line)
        elif inside:
            inside = 0
        elif mark == begin:
            inside, blocks = number, blocks + 1
        elif mark == end and strict:
            raise ConfFileError(f"line {number} ends the block that ibready writes, and no line begins it: {_UNTOLD}")
        else:
            (below if blocks else above).append(line)
    if inside:
        raise ConfFileError(f"line {inside} begins the block that ibready writes, and no line ends it: {_UNTOLD}")
    return above, within, below
