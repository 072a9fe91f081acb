# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text for a terminal: no escape sequence, no line of its own, no turned direction."""

from __future__ import annotations

from collections.abc import Sequence


def plain(line: str) -> str:
    """The line with ``?`` for what cannot be printed, and a blank for what would break it."""
    if line.isprintable():
        return line
    return "".join(entry if entry.isprintable() else " " if entry.isspace() else "?" for entry in line)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, with the cells of a column below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
