# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi dmon`` prints: how busy each GPU was in each look, with any columns and times of day."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, ends_early, flat_lines, no_facts
from ._times import Busy, Times

_TOOL = "nvsmi_dmon"
NOTHING: dict[str, Any] = {"looks": [], "unread": 0}
_GPU, _BUSY, _PROCESS = "gpu", "sm", "pid"
_CLOCKS = ("date", "time")
_INTEGER = re.compile(r"[0-9]{1,6}")
_CLOCK = re.compile(r"[0-9:/.-]{4,24}")
# Columns of use, as they are called here.
_READ = {
    "mem": "memory_percent",
    "pwr": "watts",
    "pclk": "clock_mhz",
    "rxpci": "pcie_in_mb_s",
    "txpci": "pcie_out_mb_s",
}


@dataclass(frozen=True)
class Look:
    """One line. ``sm``: percent of the time in which any kernel ran. None: not told, or not supported (``-``)."""

    gpu: int
    when: str = ""
    sm: int | None = None
    memory_percent: int | None = None
    watts: int | None = None
    clock_mhz: int | None = None
    pcie_in_mb_s: int | None = None
    pcie_out_mb_s: int | None = None


@dataclass(frozen=True)
class Dmon:
    """``unread``: lines that have other columns than the head above them."""

    looks: tuple[Look, ...]
    unread: int = 0


def parse(text: str) -> Dmon:
    """Every look at every GPU; ParseError for a text without one."""
    lines = flat_lines(text)
    columns: list[str] = []
    looks: list[Look] = []
    unread = 0
    end = len(lines) - 1 if ends_early(text) else len(lines)
    for number, line in enumerate(lines[:end], 1):
        if not line:
            continue
        words = line.replace(",", " ").lower().split()
        if line.startswith("#"):
            # The second line of a head has the units.
            named = line.lstrip("# ").replace(",", " ").lower().split()
            if _GPU in named:
                if _PROCESS in named:
                    raise ParseError(_TOOL, number, line, "of processes (pmon), not of devices")
                columns = named
            continue
        look = _look(columns, words)
        looks += [look] if look else []
        unread += bool(columns) and look is None
    if not looks:
        raise no_facts(_TOOL, lines, "no head with a column gpu, or no line below it")
    return Dmon(tuple(looks), unread)


def _look(columns: list[str], words: list[str]) -> Look | None:
    if not columns or len(words) != len(columns):
        return None
    told = dict(zip(columns, words))
    clocks = [told[name] for name in _CLOCKS if name in told]
    numbers = {name: _number(told.get(name, "-")) for name in (_GPU, _BUSY, *_READ)}
    gpu = numbers[_GPU]
    if gpu is None or not all(_CLOCK.fullmatch(clock) for clock in clocks):
        return None
    return Look(gpu, " ".join(clocks), numbers[_BUSY], **{called: numbers[name] for name, called in _READ.items()})


def _number(word: str) -> int | None:
    return int(word) if _INTEGER.fullmatch(word) else None


def facts(parsed: Dmon) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {"looks": [asdict(look) for look in parsed.looks], "unread": parsed.unread}


def times(parsed: Dmon, host: str = "") -> Times:
    """How busy each GPU was, look by look."""
    told = [look for look in parsed.looks if look.sm is not None]
    return Times(busy=tuple(Busy(host, look.gpu, look.sm or 0, look.clock_mhz or 0) for look in told))
