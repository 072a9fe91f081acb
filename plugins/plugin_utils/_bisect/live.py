# SPDX-License-Identifier: GPL-3.0-or-later
"""A search between live hosts: from what they told to the net, from a round to questions of perftest, and back.

Nothing is kept but the answers: whoever asks for the next round has the search done anew from all of them.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...module_utils._between.bench import perftest
from ...module_utils._data.bench import WRITE_BW
from .._answers import shapes
from .._fabric.model import Fabric
from .._fleet.bench.reported import Reported
from .draw import of_fabrics, of_hosts
from .engine import Bisection, usual_bound
from .net import Net
from .shapes import Bound, Flow, Measured, Round

# Where perftest's own numbers begin; one for every end of a host in a round.
TCP_PORT = 18515
# What a visit costs besides: logging in and starting modules on all hosts, in seconds.
VISIT = 60
# A healthy port's rate where the host does not tell it.
_GBPS = 100.0
# More than this share of what a port carries is no measurement of it.
_BELIEVED = 1.1
_SILENT = "no answer: its server did not start, or one of the hosts fell out"
_LABEL = re.compile(r"\A(\d{1,3}):(\d{1,6}):(\d{1,6}):([0-9a-f]{8})\Z")


@dataclass(frozen=True)
class Desired:
    """``gbps``: what a healthy flow reaches, where the site knows; 0 else. ``flows``: at once, at most; 0 for as many
    as find ports. ``joined``: ports of one name reach those of another where no switch is known."""

    test: str = WRITE_BW
    seconds: int = 5
    tcp_port: int = TCP_PORT
    gbps: float = 0.0
    flows: int = 0
    seed: int = 0
    forks: int = 5
    joined: bool = False


@dataclass(frozen=True)
class Fabrics:
    """What was seen of the InfiniBand fabrics. ``tables``: by switch GUID, from LID to the port out; ``lids``: by port
    GUID; both are empty, with ``why``, where not every table is known."""

    seen: Sequence[Fabric] = ()
    tables: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    lids: Mapping[str, int] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Lost:
    """A flow that was asked for and not measured."""

    source: str
    target: str
    why: str


class Slower(NamedTuple):
    """A port, or a cable between switches, of a lower rate than most: ``host`` has the port."""

    name: str
    host: str
    gbps: float
    most: float

    def __str__(self) -> str:
        return (
            f"{self.name} runs at {self.gbps:g} Gb/s, and most at {self.most:g}: of a slower kind, or a link that came "
            "up badly; it was held against its own rate"
        )


@dataclass(frozen=True)
class Search:
    """``engine``: brought to where all answers lead. ``asked``: its next round; None where it is at an end.
    ``blind``: why the ways between the ports are not known, or ""."""

    engine: Bisection
    asked: Round | None
    blind: str
    lost: Sequence[Lost] = ()
    slower: Sequence[Slower] = ()


def search(hosts: Sequence[Reported], fabrics: Fabrics, wish: Desired) -> Search:
    """From all that the hosts told so far."""
    rates = _rates(hosts)
    net, blind = _net(hosts, fabrics, wish, rates)
    bound = usual_bound(net)
    if wish.flows:
        bound = Bound(wish.flows, bound.share, max(bound.waves, -(-len(net.ports) // wish.flows)))
    engine = Bisection(net, bound, wish.seed, usual=1.0 if wish.gbps else 0.0)
    rounds, why = _answered(hosts, net)
    lost: list[Lost] = []
    asked = engine.next()
    for number, came in enumerate(rounds, 1):
        if asked is None:
            break
        # What the site says is what flows reach at least; of what a port tells they reach no more.
        most = {flow[:2]: math.inf if wish.gbps or not rates else _BELIEVED * flow.gbps for flow in asked.flows}
        believed = {one[:2]: one for one in came if one.gbps <= most.get(one[:2], -1.0)}
        for flow in asked.flows:
            if flow[:2] not in believed:
                told = why.get((number, *flow[:2]), _SILENT)
                lost.append(Lost(net.ports[flow.source].named, net.ports[flow.target].named, told))
        engine.take(believed.values())
        asked = engine.next()
    return Search(engine, asked, blind, tuple(lost), tuple(_slower(hosts, net)))


def _rates(hosts: Sequence[Reported]) -> dict[tuple[str, str], float]:
    return {
        (host.name, name): rate for host in hosts for name in host.member.rails if (rate := host.rates.get(name) or 0)
    }


def _net(
    hosts: Sequence[Reported], fabrics: Fabrics, wish: Desired, rates: Mapping[tuple[str, str], float]
) -> tuple[Net, str]:
    usual = _most(rates.values()) or _GBPS
    fastest = max(rates.values(), default=usual)
    able: dict[str, dict[str, float]] = {}
    for told in sorted(hosts, key=lambda told: told.name):
        for name in told.member.rails:
            rate = rates.get((told.name, name), usual)
            # The site's number is of the fastest ports.
            able.setdefault(told.name, {})[name] = wish.gbps * rate / fastest if wish.gbps else rate
    mine = {(host, name): gbps for host, rails in able.items() for name, gbps in rails.items()}
    seen = {(hca.host, hca.name) for fabric in fabrics.seen for hca in fabric.hcas.values()}
    if not fabrics.seen:
        return of_hosts(able, apart=not wish.joined), fabrics.why or "no fabric was seen"
    if mine.keys() - seen:
        host, name = min(mine.keys() - seen)
        return of_hosts(able, apart=not wish.joined), f"{host} {name} is in no fabric that was seen"
    return of_fabrics(fabrics.seen, fabrics.tables, fabrics.lids, only=mine), fabrics.why


def _slower(hosts: Sequence[Reported], net: Net) -> list[Slower]:
    """What the rates themselves tell, for a link is held against its own."""
    rates = _rates(hosts)
    most = _most(rates.values())
    found = [Slower(f"{host} {name}", host, rate, most) for (host, name), rate in rates.items() if rate < most]
    wide = _most(cable.gbps for cable in net.cables)
    return found + [Slower(cable.name, "", cable.gbps, wide) for cable in net.cables if cable.gbps < wide]


def _most(rates: Iterable[float]) -> float:
    """The commonest, of equally common ones the highest; 0 of none."""
    counts = Counter(rates)
    return max(counts, key=lambda rate: (counts[rate], rate), default=0.0)


def plan(found: Search, hosts: Sequence[Reported], wish: Desired) -> dict[str, Any]:
    """The round as tasks: ``serve`` by host, and ``waves``, each with questions by host; none at the end."""
    engine = found.engine
    ports = len(engine.net.ports)
    if found.asked is None:
        return {"number": engine.record.rounds, "limit": engine.limit, "ports": ports, "serve": {}, "waves": []}
    members = {host.name: host.member for host in hosts}
    serve: dict[str, list[dict[str, Any]]] = {}
    waves: list[dict[str, list[dict[str, Any]]]] = []
    for wave in found.asked.waves():
        asks: dict[str, list[dict[str, Any]]] = {}
        for flow in wave:
            source, target = engine.net.ports[flow.source], engine.net.ports[flow.target]
            ends = serve.setdefault(target.host, [])
            meet = {"test": wish.test, "tcp_port": wish.tcp_port + len(ends)}
            far, own = members[target.host].rails[target.name], members[source.host].rails[source.name]
            ends.append({"device": far.device, "port": far.port, **meet})
            asks.setdefault(source.host, []).append(
                {
                    "device": own.device,
                    "port": own.port,
                    **meet,
                    "address": members[target.host].address,
                    "server": target.host,
                    "rail": label(found.asked.number, flow, engine.net),
                }
            )
        waves.append(asks)
    return {
        "number": found.asked.number,
        "limit": engine.limit,
        "ports": ports,
        "flows": len(found.asked.flows),
        "at_once": max(len(wave) for wave in found.asked.waves()),
        "serve": serve,
        "waves": waves,
        "lease": _lease(waves, wish),
    }


def _lease(waves: Iterable[Mapping[str, Sequence[Any]]], wish: Desired) -> int:
    """Seconds until the last client of the last wave is through, where all use up their limits."""
    limit = perftest.limit_of(wish.test, wish.seconds)
    longest = sum(
        VISIT + -(-len(asks) // max(1, wish.forks)) * limit * max(map(len, asks.values())) for asks in waves if asks
    )
    return min(VISIT + longest, perftest.LEASE_MOST)


def label(number: int, flow: Flow, net: Net) -> str:
    """What an answer is told by: the round, the ports by number, and which ports were numbered."""
    return f"{number}:{flow.source}:{flow.target}:{_digest(net)}"


def _digest(net: Net) -> str:
    """Where a host is lost to the search its ports are not counted, and earlier numbers mean others."""
    return hashlib.sha256("\n".join(port.named for port in net.ports).encode()).hexdigest()[:8]


def asks(questions: Sequence[Mapping[str, Any]], serving: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those questions whose server is there: at another's a foreign program would answer. ``serving``: by host what
    starting the servers told."""
    found = []
    for question in questions:
        told = serving.get(str(question["server"]))
        failed = told.get("failed_ends") if isinstance(told, Mapping) else None
        if isinstance(failed, Mapping) and str(question["tcp_port"]) not in failed:
            found.append(dict(question))
    return found


def _answered(hosts: Sequence[Reported], net: Net) -> tuple[list[list[Measured]], dict[tuple[int, int, int], str]]:
    """What was measured, round by round; and by round, source and target why something was not.

    A host tells of flows from its own ports only.
    """
    rounds: dict[int, list[Measured]] = {}
    reasons: dict[tuple[int, int, int], str] = {}
    numbered = _digest(net)
    for host in hosts:
        for answer in host.answers:
            found = _LABEL.match(str(answer["rail"]))
            if found is None or found.group(4) != numbered:
                continue
            number, source, target = map(int, found.groups()[:3])
            if max(source, target) >= len(net.ports) or net.ports[source].host != host.name:
                continue
            mine = rounds.setdefault(number, [])
            gbps = _gbps(answer)
            why = str(answer.get("untested") or "")
            if gbps is not None:
                mine.append(Measured(source, target, gbps))
                why = why or f"{gbps:g} Gb/s is more than its ports carry"
            reasons[number, source, target] = why or "it returned no number"
    return [rounds.get(number, []) for number in range(1, max(rounds, default=0) + 1)], reasons


def _gbps(answer: shapes.Speed) -> float | None:
    """0 where data did not get through; None where nobody measured."""
    if answer.get("untested"):
        return 0.0 if answer.get("at") == "client" and answer.get("lost") is True else None
    value = answer.get("gbps")
    return float(value) if value is not None and 0 <= value < math.inf else None
