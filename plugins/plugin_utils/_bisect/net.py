# SPDX-License-Identifier: GPL-3.0-or-later
"""What flows run over: ports of hosts, switches, cables between switches, and the way from port to port.

Links are numbered and have a direction. Port p of n sends over link 2p and receives over 2p+1; cable c is
2n+2c from its lower end to its upper, and one more the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

# A way of more switches than any fat tree has is a loop in the tables.
_LONGEST = 12
CORE = "core"
_LEVELS = 2


class Port(NamedTuple):
    """A port of a host. ``leaf``: its switch, -1 where that is not known. ``net``: ports of one reach each other.

    ``far``: the switch's end of its cable, in words.
    """

    host: str
    name: str
    leaf: int = -1
    gbps: float = 400.0
    net: int = 0
    far: str = ""

    @property
    def named(self) -> str:
        return f"{self.host} {self.name}"


class Switch(NamedTuple):
    """``level``: leaf, spine or core."""

    name: str
    level: str


class Cable(NamedTuple):
    """A cable between switches. ``a`` is the lower one."""

    a: int
    b: int
    name: str
    gbps: float


class Way(NamedTuple):
    """Links that a flow uses for sure, and groups of which it uses one link each."""

    links: tuple[int, ...]
    maybe: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Net:
    """``hop``: the link by which a switch forwards to a port, -1 where its table has none; None: no tables are known.

    ``across``: flows between two ports of a host say nothing of either, for the host may take them no further than
    itself.
    """

    ports: Sequence[Port]
    switches: Sequence[Switch] = ()
    cables: Sequence[Cable] = ()
    hop: Callable[[int, int], int] | None = None
    across: bool = False

    @property
    def first_cable(self) -> int:
        return 2 * len(self.ports)

    @property
    def count(self) -> int:
        """How many links there are."""
        return 2 * (len(self.ports) + len(self.cables))

    @cached_property
    def gbps(self) -> list[float]:
        """What every link carries at most, by its number."""
        found = [port.gbps for port in self.ports for _turn in range(2)]
        found += [cable.gbps for cable in self.cables for _turn in range(2)]
        return found

    @cached_property
    def head(self) -> list[int]:
        """The switch that a link leads to; -1 of those to ports."""
        found = []
        for port in self.ports:
            found += [port.leaf, -1]
        for cable in self.cables:
            found += [cable.b, cable.a]
        return found

    @cached_property
    def below(self) -> dict[int, list[int]]:
        """The ports of every leaf."""
        found: dict[int, list[int]] = {}
        for number, port in enumerate(self.ports):
            found.setdefault(port.leaf, []).append(number)
        return found

    @cached_property
    def members(self) -> dict[str, list[int]]:
        """The ports of every host."""
        found: dict[str, list[int]] = {}
        for number, port in enumerate(self.ports):
            found.setdefault(port.host, []).append(number)
        return found

    @cached_property
    def _leaf_of(self) -> list[int]:
        return [port.leaf for port in self.ports]

    @cached_property
    def away(self) -> dict[int, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Of every switch the links that leave it and those that enter it, to and from other switches."""
        out: dict[int, list[int]] = {}
        into: dict[int, list[int]] = {}
        for number, cable in enumerate(self.cables):
            up = self.first_cable + 2 * number
            out.setdefault(cable.a, []).append(up)
            out.setdefault(cable.b, []).append(up + 1)
            into.setdefault(cable.b, []).append(up)
            into.setdefault(cable.a, []).append(up + 1)
        return {switch: (tuple(out[switch]), tuple(into[switch])) for switch in out}

    def under(self, switch: int) -> list[int]:
        """The leaves with ports that are below a switch, or that it is."""
        return self._under[switch]

    @cached_property
    def _under(self) -> dict[int, list[int]]:
        found: dict[int, set[int]] = {number: set() for number in range(len(self.switches))}
        for leaf in self.below:
            if leaf >= 0:
                found[leaf].add(leaf)
        for _turn in range(_LEVELS):
            for cable in self.cables:
                found[cable.b] |= found[cable.a]
        return {switch: sorted(leaves) for switch, leaves in found.items()}

    def way(self, source: int, target: int) -> Way | None:
        """Between the ports' switches; None where the tables lead nowhere, or nothing is to be learned."""
        if self.across and self.ports[source].host == self.ports[target].host:
            return None
        at, goal = self._leaf_of[source], self._leaf_of[target]
        if at == goal:
            return _NOTHING
        if at < 0 or goal < 0:
            # One of the two is plugged in where the discovery does not say.
            return Way((), tuple(self.away[leaf][leaf == goal] for leaf in (at, goal) if leaf in self.away))
        if self.hop is None:
            return self._unknown(at, goal)
        links: list[int] = []
        while at != goal:
            link = self.hop(at, target)
            if link < 0 or len(links) > _LONGEST:
                return None
            links.append(link)
            at = self.head[link]
        return Way(tuple(links))

    def _unknown(self, source: int, target: int) -> Way | None:
        """The links of which one leaves the source's switch, and one enters the target's."""
        if source not in self.away or target not in self.away:
            return None
        out, into = self.away[source][0], self.away[target][1]
        beside = {self.head[link] for link in out}
        common = beside & {self.head[link ^ 1] for link in into}
        if common:
            out = tuple(link for link in out if self.head[link] in common)
            into = tuple(link for link in into if self.head[link ^ 1] in common)
        return Way((), (out, into))


_NOTHING = Way(())
