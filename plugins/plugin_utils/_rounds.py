# SPDX-License-Identifier: GPL-3.0-or-later
"""Who pings whom, and when: pure scheduling, so that no host is ever asked twice at one time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import permutations

from ansible_collections.ibready.cluster.plugins.module_utils._checks.ping import Ping

# Client, server, rail.
Pair = tuple[str, str, str]


@dataclass(frozen=True)
class Rail:
    """One port of one host that can take part; ``lid`` is where others reach it."""

    name: str
    device: str
    port: int
    lid: int


@dataclass(frozen=True)
class Participant:
    """One host: the rails that can ping, and why the others (or all, name ``*``) cannot."""

    rails: Mapping[str, Rail]
    missing: Mapping[str, str]
    hostname: str = ""
    ignored: frozenset[str] = frozenset()


def pairings(hosts: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Rounds of (client, server): every ordered pair once, every host at most once a round.

    The circle method of round-robin tournaments, each round played in both directions.
    """
    seats: list[str | None] = [*hosts]
    if len(seats) % 2:
        seats.append(None)
    rounds: list[list[tuple[str, str]]] = []
    for _ in range(len(seats) - 1):
        half = len(seats) // 2
        met = [
            (one, two)
            for one, two in zip(seats[:half], reversed(seats[half:]), strict=True)
            if one is not None and two is not None
        ]
        if met:
            rounds.append(met)
            rounds.append([(two, one) for one, two in met])
        seats.insert(1, seats.pop())
    return rounds


def why_not(who: Participant, rail: str) -> str | None:
    """Why a host cannot ping on a rail; None where it can."""
    if rail in who.rails:
        return None
    if rail in who.ignored:
        return "ibready_expect.ignore names it"
    return who.missing.get(rail) or who.missing.get("*") or f"it has no port {rail}"


def untested(hosts: Mapping[str, Participant], answered: Set[Pair]) -> list[Ping]:
    """Every directed pair and rail without an answer, with the reason and the host that it is."""
    names = sorted({rail for who in hosts.values() for rail in (*who.rails, *who.missing)} - {"*"})
    found: list[Ping] = []
    for (client, asking), (server, asked) in permutations(hosts.items(), 2):
        for rail in names:
            if (client, server, rail) in answered:
                continue
            own, far = why_not(asking, rail), why_not(asked, rail)
            if own is None and far is not None:
                why, culprit = far, server
            else:
                why, culprit = own or "it was not asked to ping", client
            found.append(Ping(client, server, rail, untested=why, culprit=culprit))
    return found
