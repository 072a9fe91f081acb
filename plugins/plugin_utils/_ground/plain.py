# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text for a terminal: no escape sequence, no line of its own, no turned direction."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...module_utils._ground.bound import Bound

# Of a warning or an error: the longest of ours is a tenth of it.
_LINES: Bound = 200
_LONGEST: Bound = 8000
_INDENT = "    "
# Characters for the words that say how many more there are.
_MORE = 50
# Colours as Ansible writes them, and no other sequence.
_COLOR = re.compile(r"(\x1b\[(?:0|[01];3[0-7]|38;5;[0-9]{1,3})m)")
_SPOKEN = re.compile(r"\[(?:WARNING|ERROR|DEPRECATION WARNING)\]: ")


def plain(line: str) -> str:
    """The line with ``?`` for what cannot be printed, and a blank for what would break it."""
    if line.isprintable():
        return line
    return "".join(entry if entry.isprintable() else " " if entry.isspace() else "?" for entry in line)


def block(text: str) -> str:
    """Lines of a stranger's below each other: none but the first begins where Ansible's own lines begin.

    What is beyond the bounds is counted.
    """
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    first, *lines = text.split("\n")
    # What says how much is left stands within the bounds, so that nothing is left of it another time.
    kept = _LINES if len(lines) <= _LINES else _LINES - 1
    more = [f"{_INDENT}... and {len(lines) - kept:,} more lines"] if len(lines) > kept else []
    shown = (_short(_indented(plain(line))) if line.strip() else "" for line in lines[:kept])
    return "\n".join([_short(plain(first)), *shown, *more])


def _indented(line: str) -> str:
    return line if line.startswith(_INDENT) else _INDENT + line


def _short(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    kept = _LONGEST - _MORE
    return f"{line[:kept]}... and {len(line) - kept:,} more characters"


def printed(text: str) -> str:
    """What Ansible is about to print: its lines, tabs and colours stay; a warning or an error is a `block`."""
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    if _SPOKEN.match(text):
        return block(text)
    return "\n".join("\t".join(map(_colored, line.split("\t"))) for line in text.split("\n"))


def _colored(text: str) -> str:
    return "".join(part if at % 2 else plain(part) for at, part in enumerate(_COLOR.split(text)))


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, with the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
