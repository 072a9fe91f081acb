# SPDX-License-Identifier: GPL-3.0-or-later
"""Which words of the kernel's command line hold back what the machine has; no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data import boot_arguments as data
from ..._parse.strtoll import number

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50, "e": 60}
# What stands behind it is for the first process, not for the kernel.
_END = "--"


def held_back(cmdline: str) -> Iterator[tuple[str, str]]:
    """Each such word, and what the kernel goes without."""
    words = cmdline.split()
    words = words[: words.index(_END)] if _END in words else words
    last = {word.partition("=")[0]: word for word in words}
    for name, word in last.items():
        value = word.partition("=")[2]
        if word in data.WORDS:
            yield word, data.WORDS[word]
        elif name in data.FEWER and _is_below(value, data.FEWER[name][0]):
            yield word, data.FEWER[name][1]
    for word in words:
        name, _equals, value = word.partition("=")
        parts = value.split(",")
        if name == "pci":
            yield from ((word, data.PCI[part]) for part in parts if part in data.PCI)
        elif name in data.KEPT_OUT:
            # Names of modules have no difference between - and _.
            needed = [part for part in parts if part.replace("-", "_") in data.NEEDED]
            yield from ((word, f"the module {part}") for part in needed[:1])


def _is_below(value: str, least: int) -> bool:
    """Whether it is a number below this; ``64G`` is one, and what is none limits nothing."""
    read = number(value)
    unit = read.rest.lower()
    if read.value is None or read.value <= 0 or (unit and unit not in _UNITS):
        return False
    return read.value << _UNITS.get(unit, 0) < least
