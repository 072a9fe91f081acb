# SPDX-License-Identifier: GPL-3.0-or-later
"""How much better a guilty part explains what was measured, in natural logarithms of likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from .parts import BOTH, Part
from .record import SLOW, Record

# A part that fails now and then does so in this share of the rounds.
OFTEN = 0.4
# It is so much rarer than a part that is always slow.
_NOW_AND_THEN = math.log(0.1)
_WAY = {BOTH: math.log(0.5)}
_ONE_WAY = math.log(0.25)
# How much is left of the rate is chosen to fit: it might have been any other of a dozen.
_LEVEL = math.log(1 / 12)
# Slow measurements that lie further apart than this have two causes.
_APART = 0.12
# Faults that slow less than this are not looked for.
_MOST = 0.85


class Guilt(NamedTuple):
    """One part, and how it is slow. ``to``: the share of the usual that is left; ``rounds``: when, () for always."""

    part: int
    gain: float
    way: str = BOTH
    to: float = 1.0
    rounds: tuple[int, ...] = ()

    @property
    def steady(self) -> bool:
        return not self.rounds


def best(record: Record, number: int, part: Part, known: Mapping[int, float]) -> Guilt | None:
    """The likeliest way in which the part is guilty; None where it explains no slow measurement.

    ``known``: what other guilty parts leave of the usual, by measurement.
    """
    found: Guilt | None = None
    for way, links in part.ways():
        over = record.of(links)
        slow = [record.share[at] for at, _likely in over if record.share[at] < SLOW * known.get(at, 1.0)]
        for to in _levels(slow):
            guilt = _guilt(record, Guilt(number, 0.0, way, to), over, known)
            if found is None or guilt.gain > found.gain:
                found = guilt
    return found


def _guilt(record: Record, guess: Guilt, over: Sequence[tuple[int, float]], known: Mapping[int, float]) -> Guilt:
    rounds: dict[int, float] = {}
    for at, likely in over:
        before = known.get(at, 1.0)
        if guess.to >= before:
            continue
        share = record.share[at]
        fine = record.fine[at] if before == 1.0 else record.fit(share, before)
        gain = record.fit(share, guess.to) - fine
        if likely < 1:
            gain = math.log(likely * math.exp(min(gain, 50.0)) + 1 - likely)
        when = record.seen[at].round
        rounds[when] = rounds.get(when, 0.0) + gain
    way = _WAY.get(guess.way, _ONE_WAY) + _LEVEL
    steady = sum(rounds.values()) + way
    at_times = sum(math.log(OFTEN * math.exp(min(gain, 500.0)) + 1 - OFTEN) for gain in rounds.values())
    at_times += way + _NOW_AND_THEN
    # Where flows may meet unseen, what is slow now and then need not be a part's fault.
    if steady >= at_times or record.blind:
        return guess._replace(gain=steady)
    active = tuple(when for when, gain in rounds.items() if gain > 0)
    return guess._replace(gain=at_times, rounds=active) if active else guess._replace(gain=steady)


def effect(record: Record, part: Part, guilt: Guilt, known: Mapping[int, float]) -> dict[int, float]:
    """``known`` and what this guilty part leaves of the usual."""
    links = dict(part.ways())[guilt.way]
    found = dict(known)
    for at, likely in record.of(links):
        if likely < 1 and record.share[at] >= SLOW:
            continue
        if guilt.steady or record.seen[at].round in guilt.rounds:
            found[at] = min(found.get(at, 1.0), guilt.to)
    return found


def _levels(slow: Sequence[float]) -> list[float]:
    """The middle of each cluster of slow measurements."""
    clusters: list[list[float]] = []
    for share in sorted(slow):
        if clusters and share - clusters[-1][-1] < _APART:
            clusters[-1].append(share)
        else:
            clusters.append([share])
    return [min(_MOST, fmean(cluster)) for cluster in clusters]
