# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL_SOCKET_IFNAME: the interface with the way to the other nodes, exactly; no I/O."""

from __future__ import annotations

from .._expect.nccl_policy import SOCKET, NcclPolicy, is_item
from .._parse.ip_addr import LOOPBACK, Interface
from .._parse.ip_route import Route
from .derive_storage import listed
from .derived import Setting, Untold, setting, untold
from .host import NcclHost

FAMILY = "NCCL_SOCKET_FAMILY"
_SAY_SO = "nccl_socket_ifname can name one"


def lines(host: NcclHost, policy: NcclPolicy) -> list[Setting | Untold]:
    """The lines of the socket interface."""
    if policy.socket_ifname:
        return [_named(host, policy.socket_ifname)]
    if not host.routes:
        return [untold(SOCKET, f"no address of another node is known, so no way to it; {_SAY_SO}")]
    known = any(route.known for route in host.routes.values())
    # One name that nobody knows any more says nothing of the others.
    unknown = [
        f"{peer}: {route.why}"
        for peer, route in host.routes.items()
        if not route.known and not (route.missing and known)
    ]
    if unknown:
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        return [untold(SOCKET, f"no way is known to {unknown[0]}{more}; {_SAY_SO}")]
    if host.interfaces.value is None:
        return [untold(SOCKET, host.interfaces.why or "nobody looked at the interfaces")]
    found: dict[str, list[Route]] = {}
    for route in host.routes.values():
        if route.value is not None:
            found.setdefault(_carrier(route.value, host.interfaces.value), []).append(route.value)
    if len(found) > 1:
        ways = "; ".join(f"{name} to {some[0].peer}" for name, some in sorted(found.items()))
        return [untold(SOCKET, f"the ways to the other nodes differ: {ways}; {_SAY_SO}")]
    name, routes = next(iter(found.items()))
    chosen = next((interface for interface in host.interfaces.value if interface.name == name), None)
    why = _why_not(chosen, name, routes)
    if why:
        return [untold(SOCKET, f"{why}; {_SAY_SO}")]
    return _chosen(chosen, routes) if chosen is not None else []


def _carrier(route: Route, interfaces: tuple[Interface, ...]) -> str:
    """The interface that holds the route's own address: NCCL listens on an interface's address.

    That is the one that packets leave by, except where addresses are kept apart from the links.
    """
    holders = [interface.name for interface in interfaces if route.source in {a.local for a in interface.addresses}]
    return holders[0] if holders and route.dev not in holders else route.dev


def _why_not(chosen: Interface | None, name: str, routes: list[Route]) -> str:
    if chosen is None:
        return f"the way leads out of {name}, which is not among the interfaces"
    if chosen.kind == LOOPBACK:
        # Its first address is 127.0.0.1.
        return f"this host's address {routes[0].source} is on {name}, where NCCL takes another"
    if not (chosen.up and chosen.running):
        return f"{name} has the way and no link"
    if not {route.source for route in routes} <= {address.local for address in chosen.addresses if address.usable}:
        return f"{name} has the way and not the address {routes[0].source}"
    return "" if is_item(name) else f"no list of NCCL's can hold the name {name!r}"


def _chosen(chosen: Interface, routes: list[Route]) -> list[Setting | Untold]:
    kind = f" ({chosen.kind})" if chosen.kind else ""
    text = f"{chosen.name}{kind}, {routes[0].source}, has the way to the other nodes"
    found: list[Setting | Untold] = [setting(SOCKET, f"={chosen.name}", text)]
    families = {6 if ":" in route.source else 4 for route in routes}
    if families == {6} and any(address.family == 4 for address in chosen.addresses):
        why = f"the nodes know each other by IPv6, and {chosen.name} has an IPv4 address too"
        found.append(setting(FAMILY, "AF_INET6", why))
    return found


def _named(host: NcclHost, name: str) -> Setting | Untold:
    if host.interfaces.value is None:
        return setting(SOCKET, f"={name}", "nccl_socket_ifname; nobody could look whether it is so")
    known = listed(interface.name for interface in host.interfaces.value)
    if name not in {interface.name for interface in host.interfaces.value}:
        return untold(SOCKET, f"nccl_socket_ifname is {name}, and this host has {known}")
    return setting(SOCKET, f"={name}", "nccl_socket_ifname")
