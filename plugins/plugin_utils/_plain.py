# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text for a terminal: no escape sequence, no line of its own, no turned direction."""

from __future__ import annotations


def plain(line: str) -> str:
    """The line with ``?`` for what cannot be printed, and a blank for what would break it."""
    if line.isprintable():
        return line
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in line)
