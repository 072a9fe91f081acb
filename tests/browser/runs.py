# SPDX-License-Identifier: GPL-3.0-or-later
"""Run objects for the page: simulated hosts, judged by the same code as real ones.

What a host has, comes from nodes.py and fabric.py; what its pings and connections answered is made
up here. Verdicts are not: every one is that of the project's checks.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import Waiver
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_time import Visit
from ansible_collections.ibready.cluster.plugins.module_utils._ground.version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import tcp as _tcp_told
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster, tcp_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping import plan, walk
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.leaves import leaves
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import (
    build as told,
    changed,
    compare,
    course,
    inventory,
)
from tests.browser import fabric, nodes
from tests.unit import tcp_told

CABLE = "the cable of a rail is pulled"
SLOW = "a rail trained at a quarter of its rate"
POWER = "the CPUs save power"
GPU = "a GPU fell off the PCI bus before the last boot"
NOW = datetime.datetime(2026, 11, 22, 19, 41, tzinfo=datetime.UTC)
_BEGAN = 1_764_000_000.0
_WHOLE = nodes.Kind()

# The gauntlet's fault -> numbers of the hosts that have it.
Faults = Mapping[str, Sequence[int]]


@cache
def healthy() -> dict[str, Any]:
    """16 hosts, nothing wrong."""
    return build(16, created=NOW - datetime.timedelta(days=1))


@cache
def three_faults() -> dict[str, Any]:
    """The same, a day later: a cable, a slow rail that was waived until then, and four hosts whose
    CPUs save power.
    """
    until = NOW.date() - datetime.timedelta(days=1)
    rma = Waiver("ib.port.rate", "node03", until, "RMA 1234", "mlx5_3/1")
    found = build(16, {CABLE: [7], SLOW: [3], POWER: [9, 10, 11, 12]}, waivers=[rma])
    well = healthy()["hosts"]
    # node07 failed four days ago as well, and node05 took no part in a run.
    turns = [well, {**well, "node07": found["hosts"]["node07"]}, well, {**well, "node05": None}, well]
    return {**found, "since": compare.compare(healthy(), found), "history": _history(found, turns)}


@cache
def five_hundred() -> dict[str, Any]:
    """500 hosts with a few faults, one of them waived, and one that is off."""
    faults = {CABLE: [17, 204], SLOW: [88], POWER: range(129, 161), GPU: [311]}
    rma = Waiver("ib.port.rate", "node088", datetime.date(2026, 12, 31), "RMA 1234", "mlx5_3/1")
    found = build(500, faults, off={402: "Connection timed out"}, waivers=[rma])
    return {**found, "history": _history(found, _turns(found, {"node204"}, {"node311", "node402"}, {"node017"}))}


@cache
def two_thousand() -> dict[str, Any]:
    """The hosts of five_hundred four times, by their own numbers; of their fabric and pings nothing is told."""
    one = five_hundred()
    hosts, racks = {}, {}
    for turn in range(4):
        for at, host in enumerate(one["hosts"].values()):
            name = f"node{500 * turn + at + 1:04}"
            hosts[name] = host
            racks.setdefault(f"rack{(500 * turn + at) // 16 + 1:03}", []).append(name)
    run = {**one["run"], "size": len(hosts), "groups": racks}
    lacking = {name: None for name in ("fabric", "ping_coverage", "ping_matrix", "since")}
    empty: dict[str, Any] = {name: [] for name in ("pings", "ping_again", "tcp", "waivers")}
    found = {**one, **lacking, **empty, "hosts": hosts, "run": run}
    turns = _turns(found, {"node0204", "node0704"}, {"node0311", "node0811"}, {"node1017"})
    return {**found, "history": _history(found, turns)}


def _turns(run: Mapping[str, Any], fresh: set[str], later: set[str], often: set[str]) -> list[Mapping[str, Any]]:
    """Hosts of nine runs before: all that fail did, but those that are ``fresh``, those that do for three
    runs (``later``), those that do every other time (``often``); one took no part in the second."""
    every = run["hosts"]
    well = next(host for host in every.values() if host["verdict"] == "ready")
    turns = []
    for ago in range(9, 0, -1):
        good = fresh | (later if ago > 2 else set()) | (often if ago % 2 else set())
        turns.append({**every, **dict.fromkeys(good, well), **({next(iter(every)): None} if ago == 8 else {})})
    return turns


def _history(run: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of runs a day apart, the last of which is this; None in place of a host that took no part."""
    before: dict[str, Any] | None = None
    for ago, hosts in zip(range(len(turns), 0, -1), turns, strict=True):
        there = {name: host for name, host in hosts.items() if host}
        earlier = {"run": run["run"], "created": (NOW - datetime.timedelta(days=ago)).isoformat(), "hosts": there}
        before = {**earlier, "history": course.carried(before, earlier, len(turns) + 1)}
    return course.carried(before, run, len(turns) + 1)


def large(hosts: int, kind: nodes.Kind, faults: Sequence[str]) -> dict[str, Any]:
    """Many hosts, one of a hundred with a fault, in turn."""
    faulty = range(50, hosts + 1, 100)
    turns = {one: faulty[at :: len(faults)] for at, one in enumerate(faults)}
    return build(hosts, turns, kind=kind)


def build(
    count: int,
    faults: Faults | None = None,
    *,
    kind: nodes.Kind = _WHOLE,
    off: Mapping[int, str] | None = None,
    waivers: Sequence[Waiver] = (),
    created: datetime.datetime = NOW,
) -> dict[str, Any]:
    """The run object of so many hosts, and of their fabric. ``off``: number -> what ssh said."""
    words = {number: one for one, mine in (faults or {}).items() for number in mine}
    hosts = []
    for number in range(1, count + 1):
        name = f"node{number:0{len(str(count))}}"
        if number in (off or {}):
            hosts.append(nodes.absent(name, (off or {})[number]))
        else:
            hosts.append(nodes.host(name, number, words.get(number, ""), kind, visit=_clock(number), waivers=waivers))
    seen = fabric.asked(hosts)
    hosts, made = _pinged(hosts, seen, created)
    hosts = _connected(hosts)
    judged = cluster.report(hosts, size=count, created=created, version=VERSION, plan=made, asked=seen)
    names = [host.name for host in hosts]
    size = 16 if count > 16 else 4
    racks = {f"rack{at // size + 1:02}": names[at : at + size] for at in range(0, count, size)}
    groups, _left = inventory.groups({"all": names, "gpu": names, **racks}, names)
    run = told.Run(["playbooks/verify.yml"], size=count, fail_on="not_ready", cluster="sim-a", groups=groups)
    listened = changed.Reported()
    listened.begin(created - datetime.timedelta(minutes=4))
    done = told.complete(judged, hosts, run, plan=None, listened=listened, ansible="2.19.14")
    # Not of the machine that runs this: the pictures tell it.
    return {**done, "versions": {**done["versions"], "python": "3.12.3"}}


def _clock(number: int) -> Visit:
    late = 0.001 * (number % 7)
    return Visit(asked=10.0, answered=20.0, began=_BEGAN + 11 + late, ended=_BEGAN + 19)


def _pinged(
    hosts: Sequence[_hosts.Host], seen: fabrics.Query, created: datetime.datetime
) -> tuple[list[_hosts.Host], dict[str, Any]]:
    """The hosts with answers to all that the plan has them ask; round trips are drawn."""
    taking_part = {host.name: _hosts.participant(host) for host in hosts}
    found = fabrics.judged(hosts, seen, created.date())[0]
    known = leaves(found, {name: list(who.rails) for name, who in taking_part.items()})
    options = plan.Options(deadline=5, seed=20261122, forks=32, leaves=known)
    made = plan.plan(taking_part, options)
    dice = Random(0)
    return [
        dataclasses.replace(host, answers=[_answer(one, dice) for one in _asks(made, host.name)]) for host in hosts
    ], made


def _asks(made: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    visits = range(len(made["ask"].get(name, [])))
    return [one for visit in visits for one in walk.of_visit(made, name, visit)]


def _answer(asked: Mapping[str, Any], dice: Random) -> dict[str, Any]:
    mean = round(0.011 + 0.004 * dice.random(), 3)
    return {
        **{"rail": asked["rail"], "server": asked["server"], "untested": ""},
        **{"sent": 50, "received": 50, "rtt_avg": mean, "rtt_max": round(3 * mean, 3)},
    }


def _connected(hosts: Sequence[_hosts.Host]) -> list[_hosts.Host]:
    """The hosts with answers of the neighbours that they connect to."""
    here = {host.name: f"198.18.{at // 250}.{at % 250 + 1}" for at, host in enumerate(hosts) if not host.absent}
    asks: dict[str, list[str]] = {name: [] for name in here}
    for client, server in tcp_plan.pairs(here):
        asks[client].append(server)
    return [
        dataclasses.replace(
            host, tcp=_tcp_told.told(host.name, {"ansible_host": here[host.name], **tcp_told.tcp(*asks[host.name])})
        )
        if host.name in here
        else host
        for host in hosts
    ]
