# SPDX-License-Identifier: GPL-3.0-or-later
"""The flows of a round: first those that tell suspects apart, then those over what was not yet used.

Every port is in one flow at most. Costs are linear in the number of ports.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from .load import Load
from .net import Net, Way
from .record import Record
from .shapes import Bound, Flow

# How many partners are looked at, for a port, and for a cable that the flow has to use.
_PARTNERS = 10
_MORE_PARTNERS = 16
_SMALL = 1024
_NEAR = 3
# So many pairs stay below one switch: what is usual must show where a switch of two is slow.
_BESIDE = 0.125
_THROUGH = 300
_SUSPECT = 4.0
# Of the highest tree, in cables.
_HEIGHT = 6


class Pairs:
    """One round. ``suspicion``: by link. ``spared``: ports that nothing more is to be learned of."""

    def __init__(
        self,
        record: Record,
        bound: Bound,
        rng: random.Random,
        suspicion: Mapping[int, float],
        spared: Iterable[int] = (),
    ) -> None:
        self.flows: list[Flow] = []
        self._record = record
        self._net: Net = record.net
        self._rng = rng
        self._suspicion = suspicion
        self._looks = _MORE_PARTNERS if len(record.net.ports) <= _SMALL else _PARTNERS
        self._load = Load(record.net, bound)
        self._free = [True] * len(record.net.ports)
        self._taken: set[int] = set()
        self._spared = set(spared)
        self._met = {(one.source, one.target) for at in record.slow for one in (record.seen[at],)}
        self._pools: dict[int, list[int]] = {}
        for number, port in enumerate(record.net.ports):
            if number not in self._spared:
                self._pools.setdefault(port.net, []).append(number)

    def over(self, link: int) -> bool:
        """A flow over the link, with as few other suspects on its way as can be; whether there is one."""
        net = self._net
        if link in self._taken or self._load.full():
            return False
        tried = self._of_port(link) if link < net.first_cable else self._of_cable(link)
        found: tuple[float, int, int, Way] | None = None
        for source, target in tried:
            if source == target or net.ports[source].net != net.ports[target].net:
                continue
            way = net.way(source, target)
            if way is None or (link >= net.first_cable and link not in way.links):
                continue
            doubt = self._doubt(source, target, way, link)
            if found is not None and doubt >= found[0]:
                continue
            if self._load.wave(self._load.rate(source, target, way), way) < 0:
                continue
            found = (doubt, source, target, way)
            if not doubt:
                break
        if found is None:
            return False
        self._put(*found[1:])
        return True

    def cover(self) -> None:
        """Pairs of all ports that are left: those that were measured least come first."""
        counts = self._record.over
        order = [port for port, free in enumerate(self._free) if free and port not in self._spared]
        self._rng.shuffle(order)
        order.sort(key=lambda port: len(counts.get(2 * port, ())) + len(counts.get(2 * port + 1, ())))
        for port in order:
            if self._load.full():
                return
            if self._free[port]:
                self._pair(port)

    def _pair(self, port: int) -> None:
        """The partner whose way has the most links that no flow used yet."""
        net, counts = self._net, self._record.over
        sends = len(counts.get(2 * port, ())) <= len(counts.get(2 * port + 1, ()))
        found: tuple[float, int, int, Way] | None = None
        for other in self._partners(port):
            source, target = (port, other) if sends else (other, port)
            way = net.way(source, target)
            if way is None:
                continue
            worth = self._worth(source, target, way)
            if found is not None and worth <= found[0]:
                continue
            if self._load.wave(self._load.rate(source, target, way), way) >= 0:
                found = (worth, source, target, way)
        if found is not None:
            self._put(*found[1:])

    def _worth(self, source: int, target: int, way: Way) -> float:
        counts, suspicion, taken = self._record.over, self._suspicion, self._taken
        first = self._net.first_cable
        worth = 0.0
        for link in (2 * source, *way.links, 2 * target + 1):
            if link not in counts and link not in taken:
                worth += 1
            else:
                worth += 0.1 / (1 + len(counts.get(link, ())))
            if link >= first and link ^ 1 not in taken:
                worth += self._idle(link)
            if link in suspicion:
                worth -= _SUSPECT
        return worth + 0.2 * bool(way.links or way.maybe)

    def _idle(self, link: int) -> float:
        """What it is worth that a cable is used in this round at all: what fails now and then must be met then."""
        last = self._record.last
        idle = self._record.rounds - max(last.get(link, 0), last.get(link ^ 1, 0))
        return 0.1 * (2 + min(4, idle))

    def _partners(self, port: int) -> Iterable[int]:
        net, rng = self._net, self._rng
        pool = self._pools.get(net.ports[port].net, [])
        far = 0 if rng.random() < _BESIDE else self._looks
        for _turn in range(far):
            other = self._draw(pool)
            if other not in (port, -1):
                yield other
        near = net.below[net.ports[port].leaf]
        for _turn in range(_NEAR):
            other = near[int(rng.random() * len(near))]
            if other != port and self._free[other] and net.ports[other].net == net.ports[port].net:
                yield other

    def _draw(self, pool: list[int]) -> int:
        """A free port of the pool, which loses those that are taken on the way."""
        while pool:
            place = int(self._rng.random() * len(pool))
            if self._free[pool[place]]:
                return pool[place]
            pool[place] = pool[-1]
            pool.pop()
        return -1

    def _doubt(self, source: int, target: int, way: Way, link: int) -> float:
        """How suspect the rest of the way is, and whether a slow flow between the two is known already."""
        suspicion = self._suspicion
        doubt = sum(suspicion.get(one, 0.0) for one in (2 * source, *way.links, 2 * target + 1) if one != link)
        return doubt + (_SUSPECT if (source, target) in self._met else 0.0)

    def _of_port(self, link: int) -> Iterable[tuple[int, int]]:
        port, receives = divmod(link, 2)
        if not self._free[port]:
            return
        for other in [*self._partners(port), *self._partners(port)]:
            yield (other, port) if receives else (port, other)

    def _of_cable(self, link: int) -> Iterable[tuple[int, int]]:
        """Targets to which the switch at the link's tail forwards over it, and sources whose flows pass there."""
        net, rng = self._net, self._rng
        if net.hop is None:
            return
        tail = net.head[link ^ 1]
        cable = net.cables[(link - net.first_cable) // 2]
        near = net.under(cable.a) if tail == cable.b else ()
        for _turn in range(_THROUGH):
            if near:
                target = self._below(near[int(rng.random() * len(near))])
            else:
                target = int(rng.random() * len(net.ports))
            if target < 0 or not self._free[target] or net.ports[target].leaf == tail or net.hop(tail, target) != link:
                continue
            for _again in range(_NEAR):
                source = self._source(tail, target)
                if source >= 0:
                    yield source, target

    def _source(self, switch: int, target: int) -> int:
        """A free port whose flows to the target pass the switch: back along the tables."""
        net = self._net
        if net.hop is None:
            return -1
        for _turn in range(_HEIGHT):
            if switch in net.below:
                return self._below(switch)
            into = net.away[switch][1]
            start = int(self._rng.random() * len(into))
            for place in range(len(into)):
                link = into[(start + place) % len(into)]
                below = net.head[link ^ 1]
                if net.hop(below, target) == link:
                    switch = below
                    break
            else:
                return -1
        return -1

    def _below(self, leaf: int) -> int:
        ports = self._net.below[leaf]
        for _turn in range(4):
            port = ports[int(self._rng.random() * len(ports))]
            if self._free[port]:
                return port
        return -1

    def _put(self, source: int, target: int, way: Way) -> None:
        rate = self._load.rate(source, target, way)
        wave = self._load.wave(rate, way)
        self._load.put(wave, rate, way)
        self._free[source] = self._free[target] = False
        self._taken.update((2 * source, *way.links, 2 * target + 1))
        self.flows.append(Flow(source, target, rate, wave))
