# SPDX-License-Identifier: GPL-3.0-or-later
"""Every measurement, as a share of what is usual, by the links that it went over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import NamedTuple

from .net import CORE, Net
from .shapes import Flow, Measured

# Below this share of the usual a measurement is looked into: four standard deviations of 5 % noise.
SLOW = 0.8
# How often something else is in a measurement's way.
STRAY = 1e-4
# The same where flows may meet on links that nobody knows; where more are slow, it is learned from them.
STRAY_BLIND = 0.02
_MEET = 1.5
# What is known of strays beforehand weighs as much as so many measurements.
_BEFORE = 1000
_HALF = 0.5
_LITTLE = 0.1
_SURE = 0.5
_TOP = 0.95
# The usual is learned from so many rounds; of fewer measurements than these it is not believed where it is low.
_LEARNING = 3
_MANY = 64
_LOW = 0.7
_NEAR = 0.85
_SPAN = 1.2
_ROOT = math.sqrt(2 * math.pi)


class Seen(NamedTuple):
    """One measurement."""

    round: int
    source: int
    target: int
    gbps: float
    expected: float
    links: tuple[int, ...]
    maybe: tuple[tuple[int, ...], ...]


@dataclass
class Record:
    """``share``: of the usual, by measurement. ``over``: measurements by link; ``perhaps``: those that may have
    used it, with how likely that is. ``usual``: of the expected rate, what healthy flows reach; 0 until known.
    ``good``: how many were at full speed over a link; ``last``: the round in which it was last used.
    ``lone``: one flow runs at a time. ``stray``: how often a measurement says nothing of the parts.
    """

    net: Net
    noise: float = 0.05
    usual: float = 0.0
    lone: bool = False
    seen: list[Seen] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    fine: list[float] = field(default_factory=list)
    slow: list[int] = field(default_factory=list)
    over: dict[int, list[int]] = field(default_factory=dict)
    perhaps: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    good: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    rounds: int = 0

    stray: float = STRAY

    def __post_init__(self) -> None:
        self.known = self.usual > 0
        if self.blind:
            self.stray = STRAY_BLIND

    @cached_property
    def blind(self) -> bool:
        """Flows may meet where the bound on load does not see it: no switches, or nothing above spines is known."""
        net = self.net
        above = net.hop is None and any(switch.level == CORE for switch in net.switches)
        return not self.lone and (above or any(port.leaf < 0 for port in net.ports))

    @property
    def low(self) -> bool:
        """All flows alike stay far below the line rate, which nobody said is usual: none is slow beside the others."""
        return not self.known and 0 < self.usual < _LOW

    @property
    def doubtful(self) -> bool:
        """Most flows are slow for their line rate, and there are too few to say that this is usual."""
        return self.low and len(self.seen) < _MANY

    def add(self, asked: Iterable[Flow], came: Iterable[Measured]) -> None:
        """A round's measurements; those of flows that were not asked for are left out."""
        self.rounds += 1
        expected = {flow[:2]: flow.gbps for flow in asked}
        first = len(self.seen)
        for source, target, gbps in came:
            if (source, target) in expected and math.isfinite(gbps):
                self._enter(source, target, gbps, expected[source, target])
        if not self.known and self.seen and (self.rounds <= _LEARNING or not self.usual):
            self.usual = _usual([seen.gbps / seen.expected for seen in self.seen])
            first = 0
        if self.blind and self.seen:
            low = sum(seen.gbps < SLOW * self.usual * seen.expected for seen in self.seen)
            self.stray = min(_SURE, max(STRAY_BLIND, _MEET * low / len(self.seen)))
            first = 0
        self._weigh(first)

    def _enter(self, source: int, target: int, gbps: float, expected: float) -> None:
        net, number = self.net, len(self.seen)
        way = net.way(source, target)
        if way is None:
            return
        links = (2 * source, *way.links, 2 * target + 1)
        self.seen.append(Seen(self.rounds, source, target, gbps, expected, links, way.maybe))
        for link in links:
            self.over.setdefault(link, []).append(number)
            self.last[link] = self.rounds
        for group in way.maybe:
            for link in group:
                self.perhaps.setdefault(link, []).append((number, 1 / len(group)))

    def expect_strays(self, slow: int) -> bool:
        """So many slow measurements may be strays: how often they come is learned from them; whether it changed."""
        if self.blind or not self.seen:
            return False
        stray = STRAY if not slow else max(STRAY, (slow + _HALF) / (len(self.seen) + _BEFORE))
        if abs(stray - self.stray) < _LITTLE * self.stray:
            return False
        self.stray = stray
        self._weigh(0)
        return True

    def _weigh(self, first: int) -> None:
        """The measurements from this one on, as shares of the usual."""
        if not first:
            self.share, self.fine, self.slow, self.good = [], [], [], {}
        for number in range(first, len(self.seen)):
            seen = self.seen[number]
            share = seen.gbps / seen.expected / self.usual
            # What the site calls healthy is what a flow reaches at least.
            share = min(share, 1.0) if self.known else share
            self.share.append(share)
            self.fine.append(self.fit(share, 1.0))
            if share < SLOW:
                self.slow.append(number)
                continue
            for link in seen.links:
                self.good[link] = self.good.get(link, 0) + 1

    def fit(self, share: float, expected: float) -> float:
        """How well a measurement fits what is expected: the logarithm of its likelihood.

        Flows that meet unseen make each other slower, and alike: by half, or to a third.
        """
        spread = self.noise * expected + 0.01
        off = (share - expected) / spread
        astray = STRAY / _SPAN
        if self.blind and share < expected:
            astray = self.stray / ((self.noise * share + 0.01) * _ROOT)
        return math.log((1 - self.stray) * math.exp(-off * off / 2) / (spread * _ROOT) + astray)

    def of(self, links: Sequence[int]) -> list[tuple[int, float]]:
        """The measurements over any of these links, with how likely each went over one."""
        if len(links) == 1 and links[0] not in self.perhaps:
            return [(number, 1.0) for number in self.over.get(links[0], ())]
        sure = {number for link in links for number in self.over.get(link, ())}
        found = dict.fromkeys(sure, 1.0)
        if self.perhaps:
            for link in links:
                for number, likely in self.perhaps.get(link, ()):
                    if number not in sure:
                        found[number] = min(1.0, found.get(number, 0.0) + likely)
        return sorted(found.items())


def _usual(shares: Sequence[float]) -> float:
    """What most of the faster flows reach: a part that slows half of a small fabric leaves it as it is."""
    ordered = sorted(shares)
    top = ordered[min(len(ordered) - 1, int(_TOP * len(ordered)))]
    return median(share for share in ordered if share >= _NEAR * top) if top > 0 else 1.0
