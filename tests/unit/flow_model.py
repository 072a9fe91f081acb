# SPDX-License-Identifier: GPL-3.0-or-later
"""Flows over a fat tree with planted faults: what a measurement of real traffic would tell.

Fabrics are drawn here, or are those of a text of ibnetdiscover. Routes are fixed by the target, as opensm's
are. Flows that meet on a link share it (max-min fairness), and every measurement is off by 5 %.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.engine import Bisection
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.net import Cable, Net, Port, Switch
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import (
    BACK,
    BOTH,
    CABLE,
    FORTH,
    SWITCH,
    Part,
    Parts,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.shapes import Measured, Round

# What healthy flows reach of the line rate.
USUAL = 0.965
NOISE = 0.05
KINDS = (
    *("healthy", "cable, half", "cable, quarter", "cable, one way", "port, half", "port, quarter", "port, one way"),
    *("port, dead", "host", "leaf", "spine", "port, now and then", "cable, now and then", "two at once"),
)


@dataclass(frozen=True)
class Fault:
    """A part that is slow: to ``to`` of its rate, in the direction ``way``, in every ``every``-th round."""

    part: int
    to: float
    way: str = BOTH
    every: int = 1
    first: int = 0

    def active(self, number: int) -> bool:
        return number % self.every == self.first


def two_level(leaves: int, per_leaf: int, spines: int, cables: int = 1, rails: int = 8, hashed: bool = False) -> Net:
    """Rail-optimised: port r of a host is on the leaf of rail r of its group. ``hashed``: by chance, not in turn."""
    salts = _salts(leaves + spines)
    ups = spines * cables
    ports = _ports(leaves, per_leaf, rails)
    rank = _ranks(ports)
    first = 2 * len(ports)

    def hop(switch: int, target: int) -> int:
        if switch < leaves:
            return first + 2 * (switch * ups + _pick(rank[target], target, salts[switch], ups, hashed))
        spine = switch - leaves
        cable = _pick(rank[target], target, salts[switch], cables, hashed)
        return first + 2 * (ports[target].leaf * ups + spine * cables + cable) + 1

    switches = [Switch(f"leaf{leaf + 1}", "leaf") for leaf in range(leaves)]
    switches += [Switch(f"spine{spine + 1}", "spine") for spine in range(spines)]
    found = [
        _cable(switches, leaf, leaves + spine, per_leaf + spine * cables + cable + 1, leaf * cables + cable + 1)
        for leaf in range(leaves)
        for spine in range(spines)
        for cable in range(cables)
    ]
    return Net(ports, switches, found, hop)


def three_level(pods: int, leaves: int, per_leaf: int, spines: int, cores: int, rails: int = 8) -> Net:
    """``leaves`` and ``spines`` of each pod; spine s of every pod is on ``cores`` cores of its own group."""
    count, upper = pods * leaves, pods * spines
    salts = _salts(count + upper + spines * cores)
    ports = _ports(count, per_leaf, rails)
    rank = _ranks(ports)
    first = 2 * len(ports)
    second = first + 2 * count * spines
    pod_of = [leaf // leaves for leaf in range(count)]
    leaf_of = [port.leaf for port in ports]

    def hop(switch: int, target: int) -> int:
        leaf = leaf_of[target]
        if switch < count:
            return first + 2 * (switch * spines + _pick(rank[target], target, salts[switch], spines, False))
        if switch < count + upper:
            pod, spine = divmod(switch - count, spines)
            if pod == pod_of[leaf]:
                return first + 2 * (leaf * spines + spine) + 1
            up = _pick(rank[target] // spines, target, salts[switch], cores, False)
            return second + 2 * ((switch - count) * cores + up)
        group, core = divmod(switch - count - upper, cores)
        return second + 2 * ((pod_of[leaf] * spines + group) * cores + core) + 1

    switches = [Switch(f"leaf{leaf + 1}", "leaf") for leaf in range(count)]
    switches += [Switch(f"spine{spine + 1}", "spine") for spine in range(upper)]
    switches += [Switch(f"core{core + 1}", "core") for core in range(spines * cores)]
    found = [
        _cable(switches, leaf, count + pod_of[leaf] * spines + spine, per_leaf + spine + 1, leaf % leaves + 1)
        for leaf in range(count)
        for spine in range(spines)
    ]
    for pod in range(pods):
        for spine in range(spines):
            low = count + pod * spines + spine
            found += [
                _cable(switches, low, count + upper + spine * cores + core, leaves + core + 1, pod + 1)
                for core in range(cores)
            ]
    return Net(ports, switches, found, hop)


def _ports(leaves: int, per_leaf: int, rails: int) -> list[Port]:
    hosts = leaves * per_leaf // rails
    found = []
    for host in range(hosts):
        group, place = divmod(host, per_leaf)
        for rail in range(rails):
            leaf = group * rails + rail
            found.append(Port(f"node{host + 1}", f"mlx5_{rail}/1", leaf, 400.0, 0, f"leaf{leaf + 1}/{place + 1}"))
    return found


def _ranks(ports: Sequence[Port]) -> list[int]:
    """The place of every port in the order in which a subnet manager deals out the ways: leaf by leaf."""
    order = sorted(range(len(ports)), key=lambda number: (ports[number].leaf, number))
    found = [0] * len(ports)
    for place, number in enumerate(order):
        found[number] = place
    return found


def _salts(count: int) -> list[int]:
    rng = random.Random(24)
    return [rng.getrandbits(30) for _ in range(count)]


def _pick(rank: int, target: int, salt: int, ways: int, hashed: bool) -> int:
    if hashed:
        return ((target + 1) * 2654435761 ^ salt * 40503) % 4294967291 % ways
    return (rank + salt) % ways


def _cable(switches: Sequence[Switch], low: int, high: int, low_port: int, high_port: int) -> Cable:
    return Cable(low, high, f"{switches[low].name}/{low_port} - {switches[high].name}/{high_port}", 400.0)


def blind(net: Net) -> Net:
    """The same where nobody knows the switches' tables."""
    return replace(net, hop=None)


def measure(net: Net, parts: Parts, asked: Round, faults: Iterable[Fault], rng: random.Random) -> list[Measured]:
    """What every flow of the round reaches. ``net``: the true one, with its tables."""
    slow: dict[int, float] = {}
    for fault in faults:
        if fault.active(asked.number):
            for link in dict(parts.all[fault.part].ways())[fault.way]:
                slow[link] = slow.get(link, 1.0) * fault.to
    found = []
    for wave in asked.waves():
        links = [links_of(net, flow.source, flow.target) for flow in wave]
        rates = fair(links, lambda link: net.gbps[link] * slow.get(link, 1.0))
        for flow, rate in zip(wave, rates, strict=True):
            found.append(Measured(flow.source, flow.target, max(0.0, rate * USUAL * rng.gauss(1, NOISE))))
    return found


def links_of(net: Net, source: int, target: int) -> tuple[int, ...]:
    """The way that a flow really takes."""
    if source == target:
        return (net.first_inner + source,)
    way = net.way(source, target)
    assert way is not None
    assert not way.maybe
    return (2 * source, *way.links, 2 * target + 1)


def fair(flows: Sequence[Sequence[int]], gbps: Callable[[int], float]) -> list[float]:
    """Max-min fair rates: the scarcest link is shared out first."""
    users: dict[int, list[int]] = {}
    for number, links in enumerate(flows):
        for link in links:
            users.setdefault(link, []).append(number)
    shared = {link: mine for link, mine in users.items() if len(mine) > 1}
    rates = [min(gbps(link) for link in links) for links in flows]
    if not shared:
        return rates
    room = {link: gbps(link) for link in users}
    open_ = set(range(len(flows)))
    while open_:
        counts = {link: sum(one in open_ for one in mine) for link, mine in users.items()}
        link = min((one for one, count in counts.items() if count), key=lambda one: room[one] / counts[one])
        rate = room[link] / counts[link]
        for number in [one for one in users[link] if one in open_]:
            rates[number] = rate
            open_.discard(number)
            for other in flows[number]:
                room[other] -= rate
    return rates


class Planter:
    """Faults by kind, from a seed."""

    def __init__(self, net: Net, parts: Parts) -> None:
        self._net = net
        self._by: dict[str, list[int]] = {}
        for number, part in enumerate(parts.all):
            self._by.setdefault(self._kind(part), []).append(number)
        self._parts = parts
        used = used_links(net)
        self._by[CABLE] = [one for one in self._by.get(CABLE, []) if all(link in used for link in parts.all[one].links)]

    def _kind(self, part: Part) -> str:
        if part.kind != SWITCH:
            return part.kind
        return next(switch.level for switch in self._net.switches if switch.name == part.name)

    def plant(self, kind: str, rng: random.Random) -> list[Fault]:
        what, _comma, how = kind.partition(", ")
        if what == "healthy":
            return []
        if kind == "two at once":
            return self._two(rng)
        to = {"half": 0.5, "quarter": 0.25, "dead": 0.0}.get(how, rng.choice((0.5, 0.25, 0.6)))
        way = rng.choice((FORTH, BACK)) if how == "one way" else BOTH
        if how == "one way":
            to = rng.choice((0.5, 0.25, 0.1))
        every = rng.choice((2, 3)) if how == "now and then" else 1
        return [Fault(rng.choice(self._by[what]), to, way, every, rng.randrange(every))]

    def _two(self, rng: random.Random) -> list[Fault]:
        """Neither within the other: a cable of a slow switch could not be told."""
        kinds = [one for one in KINDS[1:-1] if self._by.get(one.partition(", ")[0]) and "now" not in one]
        while True:
            first, second = (self.plant(rng.choice(kinds), rng)[0] for _ in range(2))
            if not set(self._parts.all[first.part].links) & set(self._parts.all[second.part].links):
                return [first, second]


def used_links(net: Net) -> set[int]:
    """The links that some way uses; of many ports by a part of the targets."""
    found: set[int] = set()
    count = len(net.ports)
    step = max(1, count // 4096)
    for mine in net.below.values():
        for target in range(0, count, step):
            if net.ports[target].leaf != net.ports[mine[0]].leaf and net.ports[target].net == net.ports[mine[0]].net:
                found.update(links_of(net, mine[0], target))
    return found


def run(
    search: Bisection,
    net: Net,
    faults: Sequence[Fault],
    rng: random.Random,
    look: Callable[[Round], None] | None = None,
) -> Bisection:
    """A search brought to its end over the true net. ``look``: called with every round that is asked for."""
    parts = search.parts if search.net is net else Parts(net)
    while (asked := search.next()) is not None:
        if look is not None:
            look(asked)
        search.take(measure(net, parts, asked, faults, rng))
    return search


def outcome(search: Bisection, faults: Sequence[Fault]) -> str:
    """exact: the planted parts and no other are convicted; wrong: another one is, too; else cannot tell."""
    convicted, planted = set(search.convicted()), {fault.part for fault in faults}
    return "exact" if convicted == planted else "wrong" if convicted - planted else "cannot tell"
