# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse /proc/meminfo, and the meminfo of a NUMA node."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .._data.host_resources import HOLDERS
from .._ground.text import ParseError, flat_lines

_TOOL = "meminfo"
_LINE = re.compile(r"(?:Node \d{1,5} )?([A-Za-z_()]{1,40}): (\d{1,15})(?: kB)?")


@dataclass(frozen=True)
class Memory:
    """In KiB. ``held``: by line of the file; of hugetlbfs, whose pages are kept whether used or not, as ``Hugetlb``."""

    total: int
    available: int
    swap_total: int = 0
    swap_free: int = 0
    held: dict[str, int] = field(default_factory=dict)


def parse(text: str) -> Memory:
    """Read the host's memory; raise ParseError without MemTotal or MemAvailable (Linux before 3.14)."""
    found = _lines(text)
    found.setdefault("Hugetlb", found.get("HugePages_Total", 0) * found.get("Hugepagesize", 0))
    return Memory(
        _one(found, "MemTotal"),
        _one(found, "MemAvailable"),
        found.get("SwapTotal", 0),
        found.get("SwapFree", 0),
        {name: found[name] for name in HOLDERS if name in found},
    )


def fields(text: str) -> dict[str, str]:
    """Every line's number, by its name."""
    return {name: str(value) for name, value in _lines(text).items()}


def parse_node(text: str) -> int:
    """Read MemTotal of one NUMA node in KiB; raise ParseError without it."""
    return _one(_lines(text), "MemTotal")


def _lines(text: str) -> dict[str, int]:
    found = filter(None, map(_LINE.fullmatch, flat_lines(text)))
    return {match.group(1): int(match.group(2)) for match in found}


def _one(found: dict[str, int], name: str) -> int:
    if name not in found:
        raise ParseError(_TOOL, 0, "", f"no line {name}")
    return found[name]
