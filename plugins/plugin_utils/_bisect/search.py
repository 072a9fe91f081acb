# SPDX-License-Identifier: GPL-3.0-or-later
"""Which sets of guilty parts explain all measurements, and how likely each part is to be one of the guilty.

Slow measurements that have no suspect in common are explained apart. Within such a group sets grow by one
part at a time, and the best few go on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .parts import Parts
from .record import SLOW, Record
from .score import Guilt, best, effect

_WIDTH = 8
_DEPTH = 12
_SUSPECTS = 60
# Less likely than the best by so much, and it counts for nothing.
_FAR = 14.0


@dataclass(frozen=True)
class Explained:
    """A set of guilty parts. ``weight``: the logarithm of its likelihood; ``known``: as in score.best."""

    weight: float = 0.0
    guilty: tuple[Guilt, ...] = ()
    known: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """``likely``: by part. ``guilty``: of the likeliest set, by part. ``open``: slow measurements that it leaves.

    ``known``: as in score.best; ``steady``: whether a part that is always slow is on the way, by measurement.
    """

    likely: dict[int, float]
    guilty: dict[int, Guilt]
    open: tuple[int, ...]
    known: dict[int, float] = field(default_factory=dict)
    steady: dict[int, bool] = field(default_factory=dict)


def prior(parts: Parts) -> float:
    """Of one part's guilt, before anything is measured."""
    return -math.log(max(1000, len(parts.all)))


def suspects(record: Record, parts: Parts) -> dict[int, Guilt]:
    """Every part of a slow measurement's way, with how it would be guilty alone."""
    numbers = {part for at in record.slow for link in _links(record, at) for part in parts.of[link]}
    found = {}
    for number in sorted(numbers):
        guilt = best(record, number, parts.all[number], {})
        if guilt is not None:
            found[number] = guilt
    return found


def explain(record: Record, parts: Parts, alone: Mapping[int, Guilt]) -> Found:
    """``alone``: what suspects() said."""
    cost = prior(parts)
    worth = {number: guilt for number, guilt in alone.items() if guilt.gain + cost > -_FAR}
    likely: dict[int, float] = {}
    guilty: dict[int, Guilt] = {}
    known: dict[int, float] = {}
    for group in _groups(record, parts, worth):
        sets = _sets(record, parts, group, cost)
        top = max(one.weight for one in sets)
        total = sum(math.exp(one.weight - top) for one in sets)
        for one in sets:
            chance = math.exp(one.weight - top) / total
            for guilt in one.guilty:
                likely[guilt.part] = likely.get(guilt.part, 0.0) + chance
        first = max(sets, key=lambda one: one.weight)
        guilty.update({guilt.part: guilt for guilt in first.guilty})
        known.update(first.known)
    left = tuple(at for at in record.slow if record.share[at] < SLOW * known.get(at, 1.0))
    always = [part for part, guilt in guilty.items() if guilt.steady]
    steady = {at: True for part in always for at, _likely in record.of(parts.all[part].links)}
    return Found(likely, guilty, left, known, steady)


def _links(record: Record, at: int) -> list[int]:
    seen = record.seen[at]
    return [*seen.links, *(link for group in seen.maybe for link in group)]


def _groups(record: Record, parts: Parts, worth: Mapping[int, Guilt]) -> list[dict[int, Guilt]]:
    """Suspects that have slow measurements in common, directly or by others."""
    over = {
        number: [at for at, _likely in record.of(parts.all[number].links) if record.share[at] < SLOW]
        for number in worth
    }
    root = {at: at for at in record.slow}

    def find(at: int) -> int:
        while root[at] != at:
            root[at] = root[root[at]]
            at = root[at]
        return at

    for slow in over.values():
        for at in slow[1:]:
            root[find(at)] = find(slow[0])
    groups: dict[int, dict[int, Guilt]] = {}
    for number, slow in over.items():
        if slow:
            groups.setdefault(find(slow[0]), {})[number] = worth[number]
    return list(groups.values())


def _sets(record: Record, parts: Parts, group: Mapping[int, Guilt], cost: float) -> list[Explained]:
    names = sorted(group, key=lambda number: -group[number].gain)[:_SUSPECTS]
    kept: dict[tuple[int, ...], Explained] = {(): Explained()}
    front: Sequence[Explained] = [Explained()]
    top = 0.0
    for _depth in range(_DEPTH):
        grown: dict[tuple[int, ...], Explained] = {}
        for one in front:
            inside = {guilt.part for guilt in one.guilty}
            for number in names:
                # What others explain already is no gain: alone is the most that a part can add.
                if number in inside or one.weight + group[number].gain + cost < top - _FAR:
                    continue
                key = tuple(sorted((*inside, number)))
                if key in grown or key in kept:
                    continue
                guilt = best(record, number, parts.all[number], one.known) if inside else group[number]
                if guilt is None:
                    continue
                weight = one.weight + guilt.gain + cost
                if weight > top - _FAR:
                    known = effect(record, parts.all[number], guilt, one.known)
                    grown[key] = Explained(weight, (*one.guilty, guilt), known)
        if not grown:
            break
        kept.update(grown)
        front = sorted(grown.values(), key=lambda one: -one.weight)[:_WIDTH]
        best_now = front[0].weight
        if best_now <= top - _FAR / 2:
            break
        top = max(top, best_now)
    return [one for one in kept.values() if one.weight > top - _FAR]
