# SPDX-License-Identifier: GPL-3.0-or-later
"""From a slow set of hosts to the guilty part, round by round: which flows to measure next, and when it is enough.

A caller asks next() for a round, has its flows measured, hands them to take(), and goes on until next() is None;
verdict.judge then says what came of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from .net import Net
from .pairs import Pairs
from .parts import BOTH, HOST, SWITCH, Part, Parts
from .record import SLOW, Record
from .score import Guilt
from .search import Found, explain, suspects
from .shapes import Bound, Measured, Round

# A part is convicted where it is guilty at least this likely, and was slow in so many rounds; one that is slow now
# and then in so many measurements.
SURE = 0.999
TWICE = 2
THRICE = 3
# Less likely than this, a part that was seen at full speed is acquitted.
CLEAR = 0.001
# At least so likely, and a part is worth further flows.
_DOUBT = 0.02
# No fewer rounds than these: a second guilty part may not have been used before.
LEAST = 4
# Cover is complete where a round adds less than this share of the links.
_LITTLE = 0.0005
_AIMS = 48
_MORE = 4
# So little that nothing gets through.
_NONE = 0.05
# Where no switch is known, so small a part of the ports sends at once; where no tables are, in so many waves.
_BLIND = 32
_WAVES = 4


def most_rounds(net: Net) -> int:
    """The bound on the rounds: log2 of the ports, and four."""
    return (max(2, len(net.ports)) - 1).bit_length() + _MORE


def usual_bound(net: Net) -> Bound:
    """All ports at once where the ways are known, as links are then used once; few where flows may meet unseen."""
    if any(port.leaf < 0 for port in net.ports):
        return Bound(flows=max(1, len(net.ports) // _BLIND), waves=_BLIND // 2)
    return Bound() if net.hop is not None else Bound(waves=_WAVES)


class Bisection:
    """``noise``: of a measurement, as a share. ``usual``: the share of the line rate that healthy flows reach.

    0: it is learned from the first rounds.
    """

    def __init__(self, net: Net, bound: Bound | None = None, seed: int = 0, noise: float = 0.05, usual: float = 0.0):
        self.net = net
        self.parts = Parts(net)
        self._bound = bound or usual_bound(net)
        self.record = Record(net, noise, usual, self._bound.flows == 1)
        self.found = Found({}, {}, ())
        self.alone: dict[int, Guilt] = {}
        self._seed = seed
        self._asked: Round | None = None
        self._used = self._before = 0
        self._links = 2 * (len(net.ports) + len(net.cables))

    @property
    def limit(self) -> int:
        return most_rounds(self.net)

    def next(self) -> Round | None:
        """The flows to measure; None where no further round is needed, or allowed."""
        number = self.record.rounds + 1
        aims = self._aims()
        if number > self.limit or (number > LEAST and self._settled(aims)):
            return None
        pairs = Pairs(self.record, self._bound, self._rng(number), self._suspicion(), self._spared())
        for link in [*aims, *self._unused(number)]:
            pairs.over(link)
        pairs.cover()
        self._asked = Round(number, tuple(pairs.flows))
        return self._asked if pairs.flows else None

    def take(self, came: Iterable[Measured]) -> None:
        """What was measured of the flows that next() named; the same ports and numbers."""
        if self._asked is None:
            return
        self.record.add(self._asked.flows, came)
        self._asked = None
        self._explain()
        if self.record.expect_strays(self._at_times()):
            self._explain()
        self._before, self._used = self._used, len(self.record.good)

    def _explain(self) -> None:
        self.alone = suspects(self.record, self.parts)
        self.found = explain(self.record, self.parts, self.alone)

    def _at_times(self) -> int:
        """Slow measurements that no part explains which is always slow: each may come of something else."""
        return len(self.found.open) + sum(
            self.record.share[at] < SLOW and not self.found.steady.get(at, False) for at in self.found.known
        )

    def convicted(self) -> dict[int, Guilt]:
        """The guilty, by part."""
        if self.record.doubtful:
            return {}
        found = {}
        for number, guilt in self.found.guilty.items():
            if self.apart(number, guilt):
                continue
            sure = self.found.likely.get(number, 0.0) >= SURE and len(self.slow_rounds(number)) >= TWICE
            if sure and (guilt.steady or self._slow_over(number, guilt) >= THRICE):
                found[number] = guilt
        return found

    def apart(self, number: int, guilt: Guilt) -> bool:
        """Whether the part only reaches some partners and not others, where nobody knows who is joined with whom.

        Who answers a port, and is not reached by it, is joined with it.
        """
        if not self.net.across or guilt.to > _NONE:
            return False
        record, part = self.record, self.parts.all[number]
        fast = {record.seen[at][1:3] for at in range(len(record.seen)) if record.share[at] >= SLOW}
        if not any(record.share[at] >= SLOW for at, _likely in record.of(part.links)):
            return False
        over = record.of(dict(part.ways())[guilt.way])
        slow = [record.seen[at] for at, _likely in over if record.share[at] < SLOW]
        return not any((seen.target, seen.source) in fast for seen in slow)

    def _slow_over(self, number: int, guilt: Guilt) -> int:
        """How many measurements were slow over the links that the part slows down."""
        over = self.record.of(dict(self.parts.all[number].ways())[guilt.way])
        return sum(self.record.share[at] < SLOW for at, _likely in over)

    def slow_rounds(self, number: int) -> set[int]:
        """The rounds in which the part was on the way of a slow flow."""
        record = self.record
        slow = set(record.slow)
        over = record.of(self.parts.all[number].links)
        return {record.seen[at].round for at, _likely in over if at in slow}

    def _rng(self, number: int) -> random.Random:
        return random.Random(1_000_003 * self._seed + number)

    def _settled(self, aims: list[int]) -> bool:
        covered = self._used - self._before <= _LITTLE * self._links
        return bool(self.convicted()) and not aims and covered

    def _unused(self, number: int) -> list[int]:
        """Links that no flow went over at full speed so far, but for those of the guilty: flows are sought for them."""
        if number < LEAST:
            return []
        good, first = self.record.good, self.net.first_cable
        guilty = {link for one in self.convicted() for link in self.parts.all[one].links}
        cables = range(first, self.net.count) if self.net.hop is not None else ()
        return [link for link in (*cables, *range(first)) if link not in good and link not in guilty][:_AIMS]

    def _doubted(self) -> list[int]:
        """Parts that are neither convicted nor acquitted, the likeliest first."""
        likely = self.found.likely
        convicted = self.convicted()
        doubted = {number for number, chance in likely.items() if chance > _DOUBT and number not in convicted}
        for at in self.found.open:
            for link in self.record.seen[at].links:
                doubted.update(part for part in self.parts.of[link] if part in self.alone and part not in convicted)
        worth = {
            number: (likely.get(number, 0.0), self.alone[number].gain) for number in doubted if number in self.alone
        }
        return sorted((number for number in worth if worth[number][1] > 0), key=lambda number: worth[number])[::-1]

    def _aims(self) -> list[int]:
        """The links of parts in doubt that flows are to go over."""
        doubted = self._doubted()[:_AIMS]
        found: list[int] = []
        for number in doubted:
            found += self._links_of(self.parts.all[number], self.alone[number])
        return list(dict.fromkeys(found))

    def _links_of(self, part: Part, guilt: Guilt) -> list[int]:
        links = dict(part.ways())[guilt.way]
        over = self.record.over
        if part.kind in (HOST, SWITCH):
            suspicion = self._suspicion()
            return sorted(links, key=lambda link: (suspicion.get(link, 0.0), len(over.get(link, ()))))[:TWICE]
        if guilt.way == BOTH:
            return sorted(links, key=lambda link: len(over.get(link, ())))
        return list(links)

    def _suspicion(self) -> dict[int, float]:
        """How suspect every link is, by the parts that it belongs to; switches left out, which have all of them."""
        found: dict[int, float] = {}
        convicted = self.convicted()
        for number in {*self._doubted(), *convicted}:
            part, guilt = self.parts.all[number], self.alone.get(number) or convicted[number]
            if part.kind == SWITCH and number not in convicted:
                continue
            for link in dict(part.ways())[guilt.way]:
                found[link] = max(found.get(link, 0.0), guilt.gain)
        return found

    def _spared(self) -> set[int]:
        """Ports of which every flow goes over a part that is convicted, and was slow often enough."""
        found: set[int] = set()
        for number in self.convicted():
            part = self.parts.all[number]
            if len(self.slow_rounds(number)) > TWICE and part.kind in (HOST, SWITCH):
                found.update(link // 2 for link in part.links if link < self.net.first_cable)
        return found
