# SPDX-License-Identifier: GPL-3.0-or-later
"""What a terminal shows after it was sent a text: as far as plain output and one line need it."""

from __future__ import annotations

import re

_PART = re.compile(r"\x1b\[([\d;]*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+|\x1b")


def screen_of(text: str) -> list[str]:
    """Its lines, without those that are empty at the end. Knows CR, LF, colours and ``CSI K``."""
    lines: list[list[str]] = [[]]
    at = 0
    for part in _PART.finditer(text):
        one = part[0]
        if one == "\n":
            lines.append([])
            at = 0
        elif one == "\r":
            at = 0
        elif part[2] == "K" and part[1] in ("", "0"):
            del lines[-1][at:]
        elif part[2] == "m":
            continue
        elif one.startswith("\x1b"):
            raise ValueError(f"{one!r} is not known here")
        else:
            for character in one:
                lines[-1][at : at + 1] = [character]
                at += 1
    found = ["".join(line) for line in lines]
    while found and not found[-1]:
        found.pop()
    return found
