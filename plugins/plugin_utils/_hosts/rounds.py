# SPDX-License-Identifier: GPL-3.0-or-later
"""Who can ping, and who meets whom: in one round every host takes part at most once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from itertools import permutations

from ...module_utils._fleet.ping import Ping

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


def tournament(count: int) -> int:
    """The rounds in which every one of ``count`` meets every other once."""
    return max(0, count + count % 2 - 1)


def meetings(count: int, number: int) -> list[tuple[int, int]]:
    """Who meets whom in one round of that tournament, as numbers; each at most once.

    The circle method: all but the last sit in a ring, which turns by one seat a round. With an odd
    number nobody is the last, and another one sits out in every round.
    """
    ring = tournament(count)
    met = [(number % ring, ring)]
    met += [((number + step) % ring, (number - step) % ring) for step in range(1, (ring + 1) // 2)]
    return [pair for pair in met if max(pair) < count]


def why_not(who: Participant, rail: str) -> str | None:
    """Why a host cannot ping on a rail; None where it can."""
    if rail in who.rails:
        return None
    if rail in who.ignored:
        return "ibready_expect.ignore names it"
    return who.missing.get(rail) or who.missing.get("*") or f"it has no port {rail}"


def untested(
    hosts: Mapping[str, Participant],
    answered: Set[Pair],
    planned: Iterable[tuple[str, str]] | None = None,
) -> list[Ping]:
    """Every planned pair and rail without an answer, with the reason and the host that it is.

    ``planned``: client and server; all pairs of hosts where it is None.
    """
    names = sorted({rail for who in hosts.values() for rail in (*who.rails, *who.missing)} - {"*"})
    found: list[Ping] = []
    for client, server in permutations(hosts, 2) if planned is None else planned:
        for rail in names:
            if (client, server, rail) in answered:
                continue
            own, far = why_not(hosts[client], rail), why_not(hosts[server], rail)
            if own is None and far is not None:
                why, culprit = far, server
            else:
                why, culprit = own or "it was not asked to ping", client
            found.append(Ping(client, server, rail, untested=why, culprit=culprit))
    return found
