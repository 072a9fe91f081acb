# SPDX-License-Identifier: GPL-3.0-or-later
"""What drivers say of a failure in the kernel's log, and no rule knows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._data import kernel_drivers as known
from .._data.kernel_faults import PASSING_S

_DRIVERS = re.compile("|".join(f"({driver.pattern})" for driver in known.DRIVERS))
FAILS, _NEWS, _GRAVE, OVER, _LINK_UP, _LINK = (
    re.compile(words, re.IGNORECASE)
    for words in (known.FAILS, known.NEWS, known.GRAVE, known.OVER, known.LINK_UP, known.LINK)
)
HARMLESS = re.compile("|".join(harmless.pattern for harmless in known.HARMLESS))
# What a line is about: a PCI address, a bond's member, or the first name with a number in it that is no module's,
# file's, address's or function's.
_ADDRESS = re.compile(r"\b([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(\.[0-7])?\b", re.IGNORECASE)
_MEMBER = re.compile(r"\(slave (\w{1,16})\)")
_NAME = re.compile(
    r"(?<![\w.:@-])(?!mlx[45]_?[a-z]|nvidia|ext4-fs|nfs4|x86_64|aarch64|v?\d)(?=[\w.@-]{0,80}[a-z]\d)"
    r"[\w.@-]{2,80}(?![\w.@-]|:[\d:]|\()(?<!\.[ch])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Unexplained:
    """One line: whose, of which device ("" where it names none), since boot when (None: not known).

    ``grave``: it leaves the host without something.
    """

    driver: str
    device: str
    text: str
    seconds: float | None
    grave: bool


class Reading:
    """What was said so far and is not over, in the log's order."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[tuple[int, Unexplained]]] = {}
        # Device -> when a rule last told of its failure (None: nobody knows).
        self._explained: dict[str, float | None] = {}
        self._place = 0

    def take(self, text: str, seconds: float | None, level: int | None, *, explained: bool) -> None:
        """Look at one message; ``explained``: a rule has told what it means."""
        whose = _DRIVERS.match(text)
        if whose is None or not whose.lastindex:
            return
        driver = known.DRIVERS[whose.lastindex - 1]
        device = device_of(text)
        key = (driver.name, device)
        if device and OVER.search(text):
            self._explained.pop(device, None)
            self._lines.pop(key, None)
        elif device and key in self._lines and _LINK_UP.search(text):
            self._lines[key] = [line for line in self._lines[key] if not _LINK.search(line[1].text)]
        fails = FAILS.search(text) is not None
        if explained:
            if fails and device:
                self._explained[device] = seconds
            return
        warns = level == known.WARN and not driver.loud and _NEWS.search(text) is None
        bad = fails if level is None else level <= known.ERROR or (level <= driver.least and fails) or warns
        if not bad or HARMLESS.search(text):
            return
        grave = _GRAVE.search(text) is not None or (level is not None and level <= known.CRITICAL)
        self._place += 1
        self._lines.setdefault(key, []).append((self._place, Unexplained(driver.name, device, text, seconds, grave)))

    def result(self) -> tuple[Unexplained, ...]:
        """Without the lesser lines of a device of which a rule tells already."""
        told = sorted((line for lines in self._lines.values() for line in lines), key=lambda line: line[0])
        return tuple(line for _place, line in told if line.grave or not self._is_explained(line))

    def _is_explained(self, line: Unexplained) -> bool:
        """Whether a rule told of its device about then; what came long after or before is another matter."""
        if line.device not in self._explained:
            return False
        told = self._explained[line.device]
        return told is None or line.seconds is None or abs(line.seconds - told) <= PASSING_S


def device_of(text: str) -> str:
    """What a line is about, "" where it names no device."""
    address = _ADDRESS.search(text)
    if address is not None:
        return address.group(1).lower() + (address.group(2) or ".0")
    named = _MEMBER.search(text)
    if named is not None:
        return named.group(1)
    named = _NAME.search(text)
    return named.group(0) if named is not None else ""
