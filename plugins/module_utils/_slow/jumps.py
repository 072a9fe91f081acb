# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that became slower, or faster, for good from a step on: that step, and nothing where lengths only drift."""

from __future__ import annotations

import math
from typing import Sequence

from . import numbers

# So many steps on each side of it.
LEAST = 10
# A tenth of a step, and beyond so many deviations of either side. Ours.
_CHANGE, _DEVIATIONS = 0.1, 4.0
# By Pettitt's test, which goes by ranks alone, so that pauses do not matter: chance makes it once in so many jobs.
_CHANCE = 1e-4
# So much of the whole change lies between the steps next to it; what drifts has little of it there.
_SUDDEN = 0.7
# So many of either side are on that side.
_KEPT = 0.85


def jump(values: Sequence[float]) -> int:
    """The index of the first value after the jump, 0 where there is none. ``values``: seconds of steps in order."""
    if len(values) < 2 * LEAST:
        return 0
    at, chance = _pettitt(values)
    usual = numbers.median(values)
    # One near an end changes few ranks: the values there are held against all.
    lengths = [(usual, numbers.median(values[-LEAST:])), (numbers.median(values[:LEAST]), usual)]
    if chance <= _CHANCE and 0 < at < len(values):
        lengths.insert(0, (numbers.median(values[:at]), numbers.median(values[at:])))
    for before, after in lengths:
        at = _exact(values, before, after)
        if _is_jump(values, at):
            return at
    return 0


def _is_jump(values: Sequence[float], at: int) -> bool:
    """Whether nearly all before are on the one side, and nearly all from there on are on the other, at once."""
    first, second = values[:at], values[at:]
    if min(len(first), len(second)) < LEAST:
        return False
    before, after = numbers.median(first), numbers.median(second)
    change, middle = abs(after - before), (before + after) / 2
    noise = max(numbers.spread(first), numbers.spread(second))
    if change < _CHANGE * before or change < _DEVIATIONS * noise:
        return False
    over = [value > middle for value in values]
    kept = [over[:at].count(before > middle) / len(first), over[at:].count(after > middle) / len(second)]
    near = max(LEAST // 2, min(len(first), len(second)) // 10)
    beside = numbers.median(second[:near]) - numbers.median(first[-near:])
    return min(kept) >= _KEPT and abs(beside) >= _SUDDEN * change


def _exact(values: Sequence[float], before: float, after: float) -> int:
    """Where the values before are nearest to the one length, and those from there on to the other."""
    best, at, cost = 0.0, 0, 0.0
    for index, value in enumerate(values, 1):
        cost += abs(value - before) - abs(value - after)
        if cost < best:
            best, at = cost, index
    return at


def _pettitt(values: Sequence[float]) -> tuple[int, float]:
    """Where the ranks before and after differ most, and how likely chance does that."""
    count = len(values)
    ranks = _ranks(values)
    best, most, total = 0, 0.0, 0.0
    for at, rank in enumerate(ranks, 1):
        total += 2 * rank - (count + 1)
        if abs(total) > most:
            best, most = at, abs(total)
    return best, min(1.0, 2 * math.exp(-6 * most**2 / (count**3 + count**2)))


def _ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the middle of theirs."""
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for at in range(begin, end + 1):
            ranks[order[at]] = (begin + end) / 2 + 1
        begin = end + 1
    return ranks
