# SPDX-License-Identifier: GPL-3.0-or-later
"""Who connects to whom: a few others for every host, so that the effort grows with their number."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._tcp_told import Told

# Seconds of logging in and starting a module, and the most that a listener may live.
_OVERHEAD = 10
_LEASE_MOST = 6 * 3600


def plan(hosts: Mapping[str, Told]) -> dict[str, list[dict[str, Any]]]:
    """Client -> peers, as the module tcp_reach takes them; hosts without a listener stay out."""
    able = {name: told for name, told in hosts.items() if told.takes_part}
    peers: dict[str, list[dict[str, Any]]] = {}
    for client, server in pairs({name: told.address for name, told in able.items()}):
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


def _peer(name: str, told: Told) -> dict[str, Any]:
    return {
        "name": name,
        "address": told.address,
        "ports": [*told.listens, *told.sample],
        "held": list(told.host.held),
    }
