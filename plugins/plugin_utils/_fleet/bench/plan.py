# SPDX-License-Identifier: GPL-3.0-or-later
"""Who measures against whom, and when: rounds in which every host is busy at most once.

Every host measures against a few others, both ways, whatever the number of hosts: the effort of a
run does not grow with the cluster, and a slow host shows against each of its partners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....module_utils._between.bench import perftest
from ....module_utils._data.bench import WRITE_BW_GPU
from ..._hosts import rounds as _rounds
from ..._hosts.rounds import Rail

# Where perftest's own numbers begin; one for every measurement of a round.
TCP_PORT = 18515
# What a round costs besides: logging in and starting modules on all hosts, in seconds.
ROUND_OVERHEAD = 60


@dataclass(frozen=True)
class Member:
    """One host. ``rails``: those that can measure, by name. ``address``: where others reach it."""

    address: str
    rails: Mapping[str, Rail] = field(default_factory=dict)
    gpus: bool = False


@dataclass(frozen=True)
class Desired:
    """``tests``: of those of perftest. ``partners``: how many others a host measures against.
    ``forks``: on how many hosts Ansible works at a time."""

    tests: Sequence[str]
    partners: int = 3
    seconds: int = 5
    tcp_port: int = TCP_PORT
    forks: int = 5


def meetings(hosts: Sequence[str], partners: int) -> list[list[tuple[str, str]]]:
    """Rounds of (client, server): so many turns of a round-robin tournament, each both ways."""
    # With an odd number one host sits out each turn.
    turns = min(partners + len(hosts) % 2, _rounds.tournament(len(hosts)))
    rounds: list[list[tuple[str, str]]] = []
    for turn in range(turns):
        met = [(hosts[meeting], hosts[two]) for meeting, two in _rounds.meetings(len(hosts), turn)]
        if met:
            rounds += [met, [(two, entry) for entry, two in met]]
    return rounds


def plan(members: Mapping[str, Member], wish: Desired) -> dict[str, Any]:
    """``rounds``: a list of {serve: host -> ends, ask: client -> questions}; ``lease``: how long a
    server may be needed, in seconds."""
    able = sorted(name for name, member in members.items() if member.rails)
    rounds = [_round(members, met, wish) for met in meetings(able, wish.partners)]
    rounds = [entry for entry in rounds if entry["ask"]]
    longest = max((_longest(entry, wish) for entry in rounds), default=0)
    return {
        "rounds": rounds,
        "lease": min(longest + ROUND_OVERHEAD, perftest.LEASE_MOST),
    }


def _round(members: Mapping[str, Member], met: Sequence[tuple[str, str]], wish: Desired) -> dict[str, Any]:
    serve: dict[str, list[dict[str, Any]]] = {}
    ask: dict[str, list[dict[str, Any]]] = {}
    for client, server in met:
        own, far = members[client], members[server]
        shared = [name for name in own.rails if name in far.rails]
        pairs = [
            (name, test) for name in shared for test in wish.tests if test != WRITE_BW_GPU or (own.gpus and far.gpus)
        ]
        if not pairs:
            continue
        serve[server], ask[client] = [], []
        for number, (name, test) in enumerate(pairs):
            meet = {"test": test, "tcp_port": wish.tcp_port + number}
            serve[server].append({**_end(far.rails[name]), **meet})
            labels = {"address": far.address, "server": server, "rail": name}
            ask[client].append({**_end(own.rails[name]), **meet, **labels})
    return {"serve": serve, "ask": ask}


def _longest(entry: Mapping[str, Any], wish: Desired) -> int:
    """Seconds until the last client of a round is through, where all use up their limits."""
    batches = -(-len(entry["ask"]) // wish.forks)
    return batches * max(
        sum(perftest.limit_of(each["test"], wish.seconds) for each in questions) for questions in entry["ask"].values()
    )


def _end(rail: Rail) -> dict[str, Any]:
    return {"device": rail.device, "port": rail.port}
