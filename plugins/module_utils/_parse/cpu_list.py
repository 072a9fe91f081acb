# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the kernel's lists of CPUs (``0-55,112-167``): of /sys/devices/system/cpu and of NUMA nodes."""

from __future__ import annotations

import re

from .._ground.text import ParseError, flat_lines

_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?")
# More than any Linux has been built for (NR_CPUS).
_MOST = 65536


def parse(text: str) -> tuple[int, ...]:
    """Read the numbers in their order, none for an empty list; raise ParseError on what is no list."""
    found: list[int] = []
    line = " ".join(flat_lines(text)).strip()
    for part in line.split(",") if line else ():
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ParseError("cpu_list", 1, line, "not a list of CPUs")
        first, last = int(match.group(1)), int(match.group(2) or match.group(1))
        if last < first or last - first + len(found) >= _MOST:
            raise ParseError("cpu_list", 1, line, "not a list of CPUs")
        found.extend(range(first, last + 1))
    return tuple(found)
