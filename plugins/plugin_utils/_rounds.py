# SPDX-License-Identifier: GPL-3.0-or-later
"""Who pings whom, and when: pure scheduling, so that no host is ever asked twice at one time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rail:
    """One port of one host that can take part; ``lid`` is where others reach it."""

    name: str
    device: str
    port: int
    lid: int


@dataclass(frozen=True)
class Untested:
    """A directed pair on one rail that will not be tested, and which host is the reason."""

    client: str
    server: str
    rail: str
    reason: str
    culprit: str


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


def untested(hosts: Mapping[str, Participant]) -> list[Untested]:
    """Every directed pair and rail that the schedule has to leave out, with the reason."""
    names = sorted({rail for who in hosts.values() for rail in (*who.rails, *who.missing)} - {"*"})
    left_out: list[Untested] = []
    for client, asking in hosts.items():
        for server, asked in hosts.items():
            if client == server:
                continue
            for rail in names:
                own, far = why_not(asking, rail), why_not(asked, rail)
                if own is not None:
                    left_out.append(Untested(client, server, rail, own, client))
                elif far is not None:
                    left_out.append(Untested(client, server, rail, far, server))
    return left_out
