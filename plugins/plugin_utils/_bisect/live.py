# SPDX-License-Identifier: GPL-3.0-or-later
"""A search between live hosts: from what they told to the net, from a round to questions of perftest, and back.

Nothing is kept but the answers: whoever asks for the next round has the search done anew from all of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._between.bench import perftest
from ...module_utils._data.bench import WRITE_BW
from .._answers import shapes
from .._fabric.model import Fabric
from .._fleet.bench.reported import Reported
from .draw import of_fabrics, of_hosts
from .engine import Bisection, resumed, usual_bound
from .net import Net
from .shapes import Bound, Flow, Measured, Round

# Where perftest's own numbers begin; one for every end of a host in a round.
TCP_PORT = 18515
# What a visit costs besides: logging in and starting modules on all hosts, in seconds.
VISIT = 60
# A healthy port's rate where the host does not tell it.
_GBPS = 100.0
# Data did not get through: an error of the transport, or a run that began and moved nothing. What else keeps a flow
# from being measured says nothing of the way.
_LOST = re.compile(
    r"no result below this line|[Cc]ompletion with error|vendor[ _]err|[Rr]etry (?:counter|exceeded)"
    r"|[Ss]tatus (?:5|12|13)\b"
)
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


@dataclass(frozen=True)
class Search:
    """``engine``: brought to where all answers lead. ``asked``: its next round; None where it is at an end.
    ``blind``: why the ways between the ports are not known, or ""."""

    engine: Bisection
    asked: Round | None
    blind: str
    lost: Sequence[Lost] = ()


def search(hosts: Sequence[Reported], fabrics: Fabrics, wish: Desired) -> Search:
    """From all that the hosts told so far."""
    net, blind = _net(hosts, fabrics, wish)
    usual = 1.0 if wish.gbps else 0.0
    bound = usual_bound(net)
    if wish.flows:
        bound = Bound(wish.flows, bound.share, max(bound.waves, -(-len(net.ports) // wish.flows)))
    engine = Bisection(net, bound, wish.seed, usual=usual)
    rounds, lost = _answered(hosts, net)
    resumed(engine, rounds)
    return Search(engine, engine.next(), blind, lost)


def _net(hosts: Sequence[Reported], fabrics: Fabrics, wish: Desired) -> tuple[Net, str]:
    able = {
        host.name: {name: wish.gbps or host.rates.get(name) or _GBPS for name in host.member.rails}
        for host in sorted(hosts, key=lambda host: host.name)
        if host.member.rails
    }
    mine = {(host, name) for host, rails in able.items() for name in rails}
    seen = {(hca.host, hca.name) for fabric in fabrics.seen for hca in fabric.hcas.values()}
    if not fabrics.seen:
        return of_hosts(able, apart=not wish.joined), "no fabric was seen"
    if mine - seen:
        host, name = min(mine - seen)
        return of_hosts(able, apart=not wish.joined), f"{host} {name} is in no fabric that was seen"
    return of_fabrics(fabrics.seen, fabrics.tables, fabrics.lids, only=mine, gbps=wish.gbps), fabrics.why


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


def _answered(hosts: Sequence[Reported], net: Net) -> tuple[list[list[Measured]], list[Lost]]:
    """What was measured, round by round, and what was not. A host tells of flows from its own ports only."""
    rounds: dict[int, list[Measured]] = {}
    lost: list[Lost] = []
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
            if gbps is None:
                why = str(answer.get("untested") or "it returned no number")
                lost.append(Lost(net.ports[source].named, net.ports[target].named, why))
            else:
                mine.append(Measured(source, target, gbps))
    return [rounds.get(number, []) for number in range(1, max(rounds, default=0) + 1)], lost


def _gbps(answer: shapes.Speed) -> float | None:
    """0 where data did not get through; None where nobody measured."""
    why = str(answer.get("untested") or "")
    if why:
        return 0.0 if answer.get("at") == "client" and _LOST.search(why) else None
    value = answer.get("gbps")
    return float(value) if value is not None and value >= 0 else None
