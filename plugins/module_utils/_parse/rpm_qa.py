# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse rpm's list of packages, one ``NAME VERSION-RELEASE ARCH`` a line."""

from __future__ import annotations

from .._ground.text import ParseError, clean_lines
from .packages import Package

_TOOL = "rpm_qa"


def parse(text: str) -> tuple[Package, ...]:
    """Every package; ParseError on a line of another kind, and where there is no line."""
    lines = clean_lines(text)
    if lines and not text.endswith(("\n", "\r")):
        raise ParseError(_TOOL, len(lines), lines[-1], "the list ends here, cut off")
    found = []
    for line_no, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 3 or "-" not in words[1]:
            raise ParseError(_TOOL, line_no, line, "not 'NAME VERSION-RELEASE ARCH'")
        found.append(Package(words[0], words[1], words[2]))
    if not found:
        raise ParseError(_TOOL, 0, "", "no package in it")
    return tuple(found)
