# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the texts in which sysfs tells of a PCI function's memory, link and errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._data.pcie import GENERATIONS
from .._ground.text import ParseError, clean_lines

BARS = 6
# Flags of the kernel's include/linux/ioport.h.
_MEMORY, _UNSET = 0x00000200, 0x20000000
# Always sixteen digits: a shorter number was cut.
_REGION = re.compile(r"0x([0-9a-fA-F]{16}) 0x([0-9a-fA-F]{16}) 0x([0-9a-fA-F]{16})")
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) GT/s(?: PCIe)?")
_WIDTH = re.compile(r"[0-9]{1,3}")
# Wider links do not exist; a function that fell off the bus reads as 63.
_WIDEST = 32
_COUNT = re.compile(r"[0-9]{1,20}")
_TOTAL = "TOTAL_ERR"


@dataclass(frozen=True)
class Bar:
    """One base address register that holds memory."""

    start: int
    size: int
    assigned: bool


def parse(text: str) -> tuple[Bar, ...]:
    """The memory BARs of a ``resource`` file; those that the function does not use are left out.

    Where the firmware found no room, some kernels empty the line and others keep the size.
    """
    lines = clean_lines(text)
    if len(lines) < BARS:
        raise ParseError("resource", len(lines), "", f"fewer than {BARS} lines")
    found = []
    for number, line in enumerate(lines[:BARS], 1):
        match = _REGION.fullmatch(" ".join(line.split()))
        if match is None:
            raise ParseError("resource", number, line, "not a region")
        start, end, flags = (int(group, 16) for group in match.groups())
        if flags & _MEMORY and end >= start:
            assigned = bool(start) and not flags & _UNSET
            found.append(Bar(start, end - start + 1, assigned))
    return tuple(found)


def speed(text: str) -> float:
    """GT/s of ``32.0 GT/s PCIe``; ValueError for ``Unknown``."""
    match = _SPEED.fullmatch(text.strip())
    if match is None or float(match.group(1)) not in [generation.speed for generation in GENERATIONS]:
        raise ValueError(f"{text.strip()[:40]!r} is no speed of a PCIe link")
    return float(match.group(1))


def width(text: str) -> int:
    """Lanes; ValueError for what is no link."""
    text = text.strip()
    if _WIDTH.fullmatch(text) is None or not 1 <= int(text) <= _WIDEST:
        raise ValueError(f"{text[:40]!r} is no width of a PCIe link")
    return int(text)


def errors(text: str) -> dict[str, int]:
    """The counters of one of the ``aer_dev_*`` files, by the kernel's names for them."""
    lines = clean_lines(text)
    found = {}
    for number, line in enumerate(lines, 1):
        # Old kernels write whole words: "Receiver Error 2".
        words = line.split()
        if len(words) < 2 or _COUNT.fullmatch(words[-1]) is None:
            raise ParseError("aer", number, line, "not a counter")
        found[" ".join(words[:-1])] = int(words[-1])
    # The total stands last: without it the text was cut.
    if not any(name.startswith(_TOTAL) for name in found):
        raise ParseError("aer", len(lines), "", "no total")
    return found
