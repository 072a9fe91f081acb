# SPDX-License-Identifier: GPL-3.0-or-later
"""Where between pairs of ports the fault is, and what it is called: a host, a port, a leaf switch, or one way; no I/O.

A fault is a claim about edges (two hosts that pinged each other on one rail): those that it
explains are bad. It is the more credible the larger the part of its own edges that are bad, and
then the more of them it explains. The most credible one is taken, what it explains is left out,
and so on until nothing is left to explain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import FrozenSet, Iterable, Mapping, Sequence, Tuple

HOST = "host"
PORT = "port"
LEAF = "leaf"
WAY = "way"
RAIL = "rail"

Edge = FrozenSet[str]
# (host, rail) -> GUID of the leaf switch.
Leaves = Mapping[Tuple[str, str], str]
# The bad part of a claim's edges, how many it explains, and of a leaf switch 1 where nothing at
# all speaks against it.
_Score = Tuple[float, int, int]


@dataclass(frozen=True)
class Tried:
    """Two hosts on one rail, and whether anything was lost between them."""

    one: str
    two: str
    rail: str
    bad: bool


@dataclass(frozen=True)
class Fault:
    """``hosts``: at whose doors it is laid. ``bad`` of ``tried`` partners failed, of one host.

    ``rails``: all that it is about. ``leaf``: the GUID of the leaf switch; of WAY the two, joined.
    """

    kind: str
    rails: tuple[str, ...]
    hosts: tuple[str, ...]
    bad: int = 0
    tried: int = 0
    leaf: str = ""


def find(tried: Iterable[Tried], leaves: Leaves) -> list[Fault]:
    """Every fault that the outcomes tell of; a pair that failed once has failed."""
    rails: dict[str, dict[Edge, bool]] = {}
    for entry in tried:
        edges = rails.setdefault(entry.rail, {})
        edge = frozenset((entry.one, entry.two))
        edges[edge] = edges.get(edge, False) or entry.bad
    found = [
        fault
        for rail, edges in sorted(rails.items())
        if any(edges.values())
        for fault in _Rail(rail, edges, leaves).faults()
    ]
    return _whole_hosts(found, rails)


def _whole_hosts(found: Sequence[Fault], rails: Mapping[str, Mapping[Edge, bool]]) -> list[Fault]:
    """The ports of one host on all its rails, of at least two, are the host."""
    ports: dict[str, list[Fault]] = {}
    for fault in found:
        if fault.kind == PORT:
            ports.setdefault(fault.hosts[0], []).append(fault)
    whole = {}
    for host, mine in ports.items():
        on = {rail for rail, edges in rails.items() if any(host in edge for edge in edges)}
        if len(mine) > 1 and len(mine) == len(on):
            bad, tried = sum(entry.bad for entry in mine), sum(entry.tried for entry in mine)
            names = tuple(entry.rails[0] for entry in mine)
            whole[host] = Fault(HOST, names, (host,), bad, tried)
    rest = [item for item in found if item.kind != PORT or item.hosts[0] not in whole]
    return [*whole.values(), *rest]


class _Rail:
    """The edges of one rail; ``_left``: the bad ones that nothing explains yet."""

    def __init__(self, rail: str, edges: Mapping[Edge, bool], leaves: Leaves) -> None:
        self._rail = rail
        self._left = {edge for edge, bad in edges.items() if bad}
        self._good: dict[str, set[Edge]] = {}
        self._bad: dict[str, set[Edge]] = {}
        for edge, bad in edges.items():
            for host in edge:
                (self._bad if bad else self._good).setdefault(host, set()).add(edge)
        members: dict[str, set[str]] = {}
        for host in {host for edge in edges for host in edge}:
            leaf = leaves.get((host, rail), "")
            if leaf:
                members.setdefault(leaf, set()).add(host)
        self._members = {leaf: hosts for leaf, hosts in members.items() if len(hosts) > 1}
        self._leaves = leaves

    def faults(self) -> list[Fault]:
        if not self._good and len(self._left) > 1:
            return [Fault(RAIL, (self._rail,), tuple(sorted(self._bad)), len(self._left))]
        found: list[Fault] = []
        while self._left:
            found += self._most_credible()
        return found

    def _most_credible(self) -> list[Fault]:
        """The faults that are equally credible, with what they explain taken out."""
        ports = {host: self._port(host) for edge in self._left for host in edge}
        best = max(ports.values())
        switches = {leaf: self._leaf(hosts) for leaf, hosts in self._members.items()}
        best_switch = max(switches.values(), default=(0.0, 0, 0))
        # One port is likelier than a switch that would explain no more.
        if best_switch[:2] > best[:2]:
            reported = [self._of_leaf(leaf) for leaf, switch in switches.items() if switch == best_switch]
        else:
            worst = sorted(host for host, port in ports.items() if port == best)
            if best[1] == 1 and (best[0] <= 0.5 or len(worst) > 1):
                edges = {edge for host in worst for edge in self._bad[host] & self._left}
                reported = [self._of_way(edge) for edge in sorted(edges, key=sorted)]
            else:
                reported = [self._of_port(host) for host in worst]
        for _fault, explained in reported:
            self._left -= explained
        return [fault for fault, _explained in reported]

    def _port(self, host: str) -> _Score:
        bad = len(self._bad[host] & self._left)
        good = len(self._good.get(host, ()))
        return (bad / (bad + good), bad, 0)

    def _leaf(self, hosts: set[str]) -> _Score:
        """Credible where no pair with another leaf is good, and those within are all alike."""
        bad = {edge for host in hosts for edge in self._bad.get(host, set()) & self._left}
        good = {edge for host in hosts for edge in self._good.get(host, ())}
        out = {edge for edge in bad if not edge <= hosts}
        struck = {host for edge in out for host in edge if host in hosts}
        if any(not edge <= hosts for edge in good) or len(struck) < 2:
            return (0.0, 0, 0)
        if not good:
            return (1.0, len(bad), 1)
        return (1.0, len(out), 0) if len(out) == len(bad) else (0.0, 0, 0)

    def _of_leaf(self, leaf: str) -> tuple[Fault, set[Edge]]:
        hosts = self._members[leaf]
        mine = {edge for host in hosts for edge in self._bad.get(host, set()) & self._left}
        good = {edge for host in hosts for edge in self._good.get(host, ())}
        struck = tuple(sorted({host for edge in mine for host in edge} & hosts))
        tried = len(mine) + len(good)
        return Fault(LEAF, (self._rail,), struck, len(mine), tried, leaf), mine

    def _of_port(self, host: str) -> tuple[Fault, set[Edge]]:
        mine = self._bad[host] & self._left
        good = self._good.get(host, set())
        bad_at, good_at = self._far(host, mine), self._far(host, good)
        tried = len(mine) + len(good)
        one_leaf = len(bad_at) == 1 and not bad_at & good_at and "" not in bad_at | good_at
        if one_leaf and good and len(mine) > 1:
            ends = f"{self._leaves.get((host, self._rail), '')} and {min(bad_at)}"
            return Fault(WAY, (self._rail,), (host,), len(mine), tried, ends), mine
        return Fault(PORT, (self._rail,), (host,), len(mine), tried), mine

    def _of_way(self, edge: Edge) -> tuple[Fault, set[Edge]]:
        ends = " and ".join(self._leaves.get((host, self._rail), "") for host in sorted(edge))
        others = max(len(self._good.get(host, ())) for host in edge)
        return Fault(WAY, (self._rail,), tuple(sorted(edge)), 1, 1 + others, ends), {edge}

    def _far(self, host: str, edges: Iterable[Edge]) -> set[str]:
        """The leaf switches of the partners; "" for one that nobody knows."""
        return {self._leaves.get((other, self._rail), "") for edge in edges for other in edge - {host}}


def cause(fault: Fault, host: str, sound: int = 0) -> str:
    """One sentence: what fails, what does not, and so what it must be.

    ``sound``: rails of the host at which nothing fails.
    """
    if fault.kind == HOST:
        return (
            f"pings get lost on all its {len(fault.rails)} rails, in {fault.bad} of {fault.tried} "
            "pairs: the host, rather than one of its cables"
        )
    if fault.kind == PORT:
        return (
            f"pings get lost with {fault.bad} of {fault.tried} partners, who do better with "
            f"others{_others(sound)}: its port, its cable or the switch port at the other end"
        )
    if fault.kind == LEAF:
        return _leaf(fault)
    if fault.kind == WAY:
        return _way(fault, host)
    return (
        f"pings get lost in all {fault.bad} pairs of this rail: nobody is known to be good, so "
        "nobody can be told to be bad"
    )


def remedy(fault: Fault) -> str:
    """What to do where the catalog's words for one port do not fit; "" where they do."""
    if fault.kind == LEAF:
        return f"look at switch {fault.leaf} and its uplinks (`iblinkinfo -S {fault.leaf}`)"
    if fault.kind == WAY:
        return "follow the way with `ibtracert` between the two LIDs and read its counters"
    return ""


def _others(sound: int) -> str:
    if not sound:
        return ""
    return f", and {sound} other rail{'s' * (sound > 1)} of this host lose{'s' * (sound == 1)} none"


def _leaf(fault: Fault) -> str:
    hosts = f"all {len(fault.hosts)} hosts of leaf switch {fault.leaf} that were asked"
    if fault.tried > fault.bad:
        return f"{hosts} reach each other on this rail and nobody else: the switch's uplinks"
    return f"pings get lost for {hosts} on this rail: the leaf switch"


def _way(fault: Fault, host: str) -> str:
    known = fault.leaf.strip() not in ("", "and")
    between = f" (leaf switches {fault.leaf})" if known else ""
    others = [name for name in fault.hosts if name != host]
    if not others:
        return (
            f"pings get lost with {fault.bad} of {fault.tried} partners, all of one leaf switch of "
            f"which no other was reached: the way between the switches{between}"
        )
    if fault.tried == 1:
        return f"pings get lost with {others[0]}, and nobody else was asked: either of the two"
    return f"pings get lost with {others[0]} alone, and both are good with others: the way between the two{between}"
