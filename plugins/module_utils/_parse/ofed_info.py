# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ofed_info -s`` prints (or the first line of ``ofed_info``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import flat_lines, no_facts

_TOOL = "ofed_info"
# MLNX_OFED_LINUX-24.10-1.1.4.0:  OFED-internal-24.07-0.3.5.0.110:  OFED-1.5.4.1:
_VERSION = re.compile(r"([A-Za-z_-]{0,20}OFED[A-Za-z_-]{0,20})-([0-9]{1,3}\.[0-9][0-9A-Za-z.-]{0,40}):?")
# What a shell says in its place.
_ABSENT = ("command not found", "not found", "no such file or directory", "permission denied")

NOTHING: dict[str, Any] = {"version": None}


@dataclass(frozen=True)
class OfedInfo:
    """``name`` and ``release`` together are what was printed: MLNX_OFED_LINUX and 24.10-1.1.4.0.

    ``error``: what a shell said where there is no such tool; the others are empty then.
    """

    name: str = ""
    release: str = ""
    error: str = ""

    @property
    def version(self) -> str:
        """The whole of it, without the colon at the end."""
        return f"{self.name}-{self.release}" if self.name else ""


def parse(text: str) -> OfedInfo:
    """Read the output; raise ParseError where it names no version."""
    lines = flat_lines(text)
    for line in lines:
        word = line.split(" ", 1)[0]
        match = _VERSION.fullmatch(word)
        if match is not None:
            return OfedInfo(match.group(1), match.group(2))
    for line in lines:
        said = _absent(line)
        if said:
            return OfedInfo(error=said)
    raise no_facts(_TOOL, lines, "no 'NAME-VERSION' from here to the end", "empty output: it names no version")


def _absent(line: str) -> str:
    if _TOOL not in line:
        return ""
    for part in line.split(":"):
        if any(entry in part.lower() for entry in _ABSENT):
            return part.strip()
    return ""


def facts(parsed: OfedInfo) -> dict[str, Any]:
    """The same in the words of docs/parsers.md."""
    if parsed.error:
        return {"version": None, "error": parsed.error}
    return {"version": parsed.version}
