# SPDX-License-Identifier: GPL-3.0-or-later
"""What a switch port does with RoCE traffic, whatever the switch runs: every parser of this room fills this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...module_utils._ground.text import ParseError, printable

T = TypeVar("T")
PRIORITIES = range(8)
DSCPS = range(64)
DSCP, PCP = "dscp", "pcp"


@dataclass(frozen=True)
class Told(Generic[T]):
    """A value and the line that tells it; or, with ``value`` None, why there is none."""

    value: T | None = None
    line: str = ""
    why: str = ""


@dataclass(frozen=True)
class TrafficClass:
    """Where packets of a mark go. ``priority``: the one that is paused for them, ``queue``: the one that they leave
    by; None where the switch's tables lead to none."""

    priority: int | None
    queue: int | None
    line: str


@dataclass(frozen=True)
class SwitchPort:
    """``names``: by which others may mean it. ``remote``: the host and its port that the switch has behind it.

    ``pfc``: the priorities with flow control. ``trust``: DSCP, PCP or both. ``classes``: by DSCP. ``ecn``: the queues
    that mark congestion. ``mtu``: the bytes behind the Ethernet header. ``watchdog``: whether it ends pauses that
    do not end by themselves.
    """

    name: str
    names: frozenset[str] = frozenset()
    remote: tuple[str, str] = ("", "")
    pfc: Told[tuple[int, ...]] = field(default_factory=Told)
    trust: Told[frozenset[str]] = field(default_factory=Told)
    classes: Told[Mapping[int, TrafficClass]] = field(default_factory=Told)
    ecn: Told[frozenset[int]] = field(default_factory=Told)
    mtu: Told[int] = field(default_factory=Told)
    watchdog: Told[bool] = field(default_factory=Told)


@dataclass(frozen=True)
class Text:
    """A file that was handed in. ``name``: as messages have it, SWITCH/FILE."""

    name: str
    text: str

    def refuse(self, line_no: int, line: str, reason: str) -> ParseError:
        """The error that names this file and a line of it."""
        return ParseError(self.name, line_no, line, reason)

    def line(self, line_no: int, said: str) -> str:
        """How a finding quotes a line."""
        return f"{self.name} line {line_no}: {printable(' '.join(said.split()))}"


def numbers(said: str, within: Iterable[int]) -> tuple[int, ...]:
    """``3,4`` and ``0-2,5`` in order; ValueError on anything else. "" and ``-`` are none."""
    allowed = set(within)
    found: set[int] = set()
    for part in said.split(",") if said.strip() not in ("", "-") else ():
        first, dash, last = part.strip().partition("-")
        bounds = [first, last if dash else first]
        if not all(word.isascii() and word.isdecimal() and len(word) < 4 for word in bounds):
            raise ValueError(f"{part.strip()[:40]!r} is no number")
        some = range(int(bounds[0]), int(bounds[1]) + 1)
        if not some or not allowed.issuperset(some):
            raise ValueError(f"{part.strip()[:40]!r} is not within {min(allowed)} to {max(allowed)}")
        found.update(some)
    return tuple(sorted(found))


def shown(value: Any) -> str:
    """Numbers or words in order, ``none`` without any."""
    return ", ".join(map(str, sorted(value))) or "none"
