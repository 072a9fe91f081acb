# SPDX-License-Identifier: GPL-3.0-or-later
"""What a round's flows ask of every link, wave by wave, so that the bound on load is kept."""

from __future__ import annotations

from .net import Net, Way
from .shapes import Bound

_ROUNDING = 1e-6


class Load:
    """Flows fit where no link between switches, nor any that they may use, gets more than its share."""

    def __init__(self, net: Net, bound: Bound) -> None:
        self._gbps = net.gbps
        self._ports = net.ports
        self._share = bound.share + _ROUNDING
        self._most = bound.flows or len(net.ports)
        self._used: list[dict[int, float]] = [{} for _turn in range(max(1, bound.waves))]
        self._flows = [0] * len(self._used)

    def rate(self, source: int, target: int, way: Way) -> float:
        """What the flow moves where all is healthy."""
        rate = min(self._ports[source].gbps, self._ports[target].gbps)
        for link in way.links:
            if self._gbps[link] < rate:
                rate = self._gbps[link]
        for group in way.maybe:
            rate = min(rate, *(self._gbps[link] for link in group))
        return rate

    def wave(self, rate: float, way: Way) -> int:
        """The first wave that has room for it; -1 where none has."""
        for number, used in enumerate(self._used):
            if self._flows[number] < self._most and self._fits(used, rate, way):
                return number
        return -1

    def _fits(self, used: dict[int, float], rate: float, way: Way) -> bool:
        gbps, share = self._gbps, self._share
        for link in way.links:
            if used.get(link, 0.0) + rate > gbps[link] * share:
                return False
        return all(used.get(link, 0.0) + rate <= gbps[link] * share for group in way.maybe for link in group)

    def full(self) -> bool:
        """No further flow may start, whichever its way is."""
        return all(flows >= self._most for flows in self._flows)

    def put(self, wave: int, rate: float, way: Way) -> None:
        """A flow that wave() found room for."""
        used = self._used[wave]
        self._flows[wave] += 1
        for link in way.links:
            used[link] = used.get(link, 0.0) + rate
        for group in way.maybe:
            for link in group:
                used[link] = used.get(link, 0.0) + rate
