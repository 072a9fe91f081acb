# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse /proc/pressure/*: for how much of the time tasks waited for CPU, memory or disks (PSI)."""

from __future__ import annotations

import re

from .._ground.text import ParseError, flat_lines

_SOME = re.compile(r"some avg10=\d{1,3}\.\d\d avg60=\d{1,3}\.\d\d avg300=(\d{1,3}\.\d\d) total=\d{1,20}")


def parse(text: str) -> float:
    """Read how many per cent of the last five minutes some task waited; raise ParseError without it."""
    for line in flat_lines(text):
        found = _SOME.fullmatch(line)
        if found is not None:
            return float(found.group(1))
    raise ParseError("pressure", 0, "", "no line some")
