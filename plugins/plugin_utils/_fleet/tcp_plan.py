# SPDX-License-Identifier: GPL-3.0-or-later
"""Who connects to whom: a few others for every host, so that the effort grows with their number."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ...module_utils._between.tcp.tried import BARRED, CONNECTED, PROVED, UNABLE, UNRESOLVED, Try
from .._answers import shapes
from .._answers.tcp import Reported

# Seconds of logging in and starting a module, and the most that a listener may live.
_OVERHEAD = 10
_LEASE_MOST = 6 * 3600
_NOT_ASKED = "it was not asked to connect"


def plan(hosts: Mapping[str, Reported]) -> dict[str, list[dict[str, Any]]]:
    """Client -> peers, as the module tcp_reach takes them; hosts without a listener stay out."""
    able = {name: reported for name, reported in hosts.items() if reported.takes_part}
    peers: dict[str, list[dict[str, Any]]] = {}
    for client, server in pairs({name: reported.address for name, reported in able.items()}):
        peers.setdefault(client, []).append(_peer(server, able[server]))
    return peers


def pairs(addresses: Mapping[str, str]) -> list[tuple[str, str]]:
    """(client, server): every host asks, and is asked by, at most three others.

    The hosts stand in a ring in the order of their addresses. Each asks both neighbours, so every
    border between two subnets is crossed both ways, and the one on the other side of the ring,
    which mostly is in another subnet.
    """
    ring = sorted(addresses, key=lambda name: _place(name, addresses[name]))
    size = len(ring)
    steps = sorted({1 % size, -1 % size, size // 2} - {0}) if size else []
    return [(ring[at], ring[(at + step) % size]) for at in range(size) for step in steps]


def lease(hosts: int, forks: int, timeout: float) -> int:
    """Seconds that a listener may live: as long as the slowest run between its start and end."""
    waves = -(-hosts // max(1, forks))
    slowest = 60 + 2 * waves * (_OVERHEAD + 2 * timeout)
    return min(_LEASE_MOST, round(slowest))


def _place(name: str, address: str) -> tuple[int, int, str]:
    """Addresses in the order of their numbers, then names."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:
        return (9, 0, name)
    return (number.version, int(number), name)


def _peer(name: str, told: Reported) -> dict[str, Any]:
    return {
        "name": name,
        "address": told.address,
        "ports": [*told.listens, *told.sample],
        "held": list(told.host.held),
    }


def tries(hosts: Mapping[str, Reported]) -> list[Try]:
    """One per planned connection, in the plan's order."""
    able = {name: reported.address for name, reported in hosts.items() if reported.takes_part}
    answers = {
        (client, answer["server"], answer["port"]): answer for client in able for answer in hosts[client].answers
    }
    found: list[Try] = []
    for client, server in pairs(able):
        for attempt in _planned(client, server, hosts[server]):
            answer = answers.get((client, server, attempt.port))
            if attempt.untested:
                found.append(attempt)
            elif answer is None:
                why = hosts[client].host.error or _NOT_ASKED
                found.append(_untested(attempt, why, client))
            else:
                found.append(_told(attempt, answer, hosts[server]))
    return found


def row(entry: Try) -> dict[str, Any]:
    """A connection as the report holds it."""
    return asdict(entry)


def _planned(client: str, server: str, told: Reported) -> Iterator[Try]:
    for port in (*told.listens, *told.host.held):
        yield Try(client, server, port)
    for port in told.sample:
        yield Try(client, server, port, sample=True)
    if told.sample_why and not told.sample:
        yield _untested(Try(client, server, 0, sample=True), told.sample_why, server)


def _told(entry: Try, answer: shapes.Reached, server: Reported) -> Try:
    """What an answer says, as far as it can be believed."""
    outcome, said = answer["outcome"], answer["said"]
    if outcome == UNABLE:
        return _untested(entry, said or "it could not connect", entry.client)
    held = server.host.held.get(entry.port)
    if held and outcome in BARRED:
        why = f"port {entry.port} is in use by {held}, which cannot be reached from {entry.client}"
        return _untested(entry, f"{why}: {outcome}", entry.server)
    if outcome in BARRED and server.ended:
        return _untested(entry, server.ended, entry.server)
    # Nobody proves anything on a port that another program has, and only there.
    fitting = [word for word in PROVED if (word == CONNECTED) is bool(held)]
    if outcome not in (*fitting, *BARRED, UNRESOLVED):
        return _untested(entry, f"the module tcp_reach returned {outcome!r}", entry.client)
    return Try(entry.client, entry.server, entry.port, entry.sample, outcome, answer["ms"], said)


def _untested(entry: Try, why: str, culprit: str) -> Try:
    return Try(entry.client, entry.server, entry.port, entry.sample, untested=why, culprit=culprit)
