# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather a host's interfaces, addresses, and its routes to other nodes."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Sequence

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import getent_ahosts, ip_addr, ip_route
from ..._parse.ip_addr import Interface
from ..._parse.ip_route import Route

# Each question costs milliseconds, and routes go by networks: so many nodes stand for all.
MOST_PEERS = 128
# So many names in a row without an address.
_ENOUGH = 3
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")


@dataclass(frozen=True)
class NetFacts:
    """``interfaces``: in the kernel's order. ``routes``: by the address or name that was asked for;
    this host's own are left out, and a name without an address is missing."""

    interfaces: Reading[tuple[Interface, ...]] = field(default_factory=Reading)
    routes: dict[str, Reading[Route]] = field(default_factory=dict)


def observe(evidence: Evidence, peers: Sequence[str] = ()) -> NetFacts:
    """``peers``: addresses or names of other nodes. Of more than MOST_PEERS every so-many-th is
    asked."""
    asked = sorted(set(peers))
    if len(asked) > MOST_PEERS:
        asked = [asked[at * len(asked) // MOST_PEERS] for at in range(MOST_PEERS)]
    routes: dict[str, Reading[Route]] = {}
    lost = 0
    for peer in asked:
        # A name service that does not answer costs seconds for each name.
        if lost >= _ENOUGH and not _is_address(peer):
            routes[peer] = Reading(None, f"{peer} was not looked up, for others have no address", True)
            continue
        routes[peer] = _route(evidence, peer)
        lost = lost + 1 if routes[peer].missing else 0
    return NetFacts(
        interfaces=ask.command(evidence, "ip_addr", ip_addr.parse),
        routes={peer: route for peer, route in routes.items() if not (route.value and route.value.local)},
    )


def _is_address(peer: str) -> bool:
    try:
        ipaddress.ip_address(peer)
    except ValueError:
        return False
    return True


def _route(evidence: Evidence, peer: str) -> Reading[Route]:
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        if _NAME.fullmatch(peer) is None:
            return Reading(None, f"{peer[:60]!r} is neither an IP address nor a host's name")
        found = ask.command(evidence, "getent_ahosts", getent_ahosts.parse, peer)
        known = [ipaddress.ip_address(item) for item in found.value or ()]
        usable = [entry for entry in known if not entry.is_link_local]
        if not usable:
            return Reading(None, f"{peer} has no address here: {found.why or known[0]}", True)
        address = usable[0]
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return Reading(None, f"{address} is no address that a route leads to")
    route = ask.command(evidence, "ip_route", ip_route.parse, str(address))
    if route.value is not None and route.value.peer != str(address):
        return Reading(None, f"ip_route: asked for {address}, it told of {route.value.peer}")
    return route
