# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ethtool -S`` prints: a heading, and one counter a line."""

from __future__ import annotations

import re

from .._ground.text import ParseError, clean_lines

_TOOL = "ethtool -S"
_HEADING = "NIC statistics:"
_LINE = re.compile(r"\s*(\S.{0,120}?)\s*:\s*([0-9]{1,20})")


def parse(text: str) -> dict[str, int]:
    """Every counter by its name. Names are the driver's, and some have a blank or a bracket in them."""
    lines = [line for line in clean_lines(text) if line.strip()]
    if not lines or " ".join(lines[0].split()) != _HEADING:
        raise ParseError(_TOOL, 1, lines[0] if lines else "", f"not {_HEADING!r}")
    if not text.endswith("\n"):
        raise ParseError(_TOOL, len(lines), lines[-1], "the output ends here, cut off")
    found: dict[str, int] = {}
    for line_no, line in enumerate(lines[1:], 2):
        match = _LINE.fullmatch(line)
        if match is None:
            raise ParseError(_TOOL, line_no, line, "not 'NAME: NUMBER'")
        found[" ".join(match.group(1).split())] = int(match.group(2))
    return found
