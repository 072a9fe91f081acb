# SPDX-License-Identifier: GPL-3.0-or-later
"""From which addresses each node of the inventory reaches the others.

Where the inventory reaches a node, and of the addresses that the node has itself those in the
networks that the site names. What nobody looked at is said (``complete``), so that a node which is
down is not locked out.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._ground.text import few
from .._answers.typed import read
from .._ground import address as _address
from .._ground.dicts import as_dict

_SHOWN = 8
Resolve = Callable[[str], Sequence[str]]


class NodesError(ValueError):
    """A node or network that cannot be understood, with the next step."""


def nodes(
    hostvars: Mapping[str, Any],
    names: Iterable[str],
    networks: Sequence[str],
    resolve: Resolve | None = None,
) -> dict[str, dict[str, Any]]:
    """Node -> {addresses, complete}, as the module firewall_rules takes them."""
    inside = [_network(network) for network in networks]
    look_up = resolve or lookup
    return {name: _node(name, hostvars.get(name) or {}, inside, look_up) for name in names}


def unseen(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What to warn of: hosts that did not tell their addresses, once for all of them."""
    missing = [name for name, item in found.items() if not item["complete"]]
    nowhere = [name for name in missing if not found[name]["addresses"]]
    reported = []
    if missing:
        reported.append(
            f"{few(missing, _SHOWN)}: told no addresses in this run, and are let in from where the"
            " inventory reaches them and from where an earlier run let them in"
        )
    if nowhere:
        reported.append(
            f"{few(nowhere, _SHOWN)}: the inventory tells no address either, and nothing new is opened"
            " for them. Next: set ibready_address of these hosts, or run again when they answer"
        )
    return reported


def lookup(name: str) -> list[str]:
    """The addresses of a name, as the controller sees it; [] where it sees none."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(item[4][0]).partition("%")[0] for item in found))


def _network(given: str) -> Any:
    try:
        return ipaddress.ip_network(given)
    except ValueError as exc:
        raise NodesError(f"firewall_networks: {exc}. Next: write it like 10.1.0.0/16, by its first address") from exc


def _node(name: str, variables: Mapping[str, Any], inside: Sequence[Any], resolve: Resolve) -> dict[str, Any]:
    own = _own(as_dict(variables.get("ansible_facts")))
    reached = _reached(name, variables, own or [], resolve)
    more = [entry for entry in own or [] if any(ipaddress.ip_address(entry) in net for net in inside)]
    found = [entry for entry in dict.fromkeys([*reached, *more]) if _goes(entry)]
    # A host that answers has an address that others can reach: where it tells none, nobody could
    # look. It opens nothing for itself by that, and stops nobody else.
    return {"addresses": sorted(found), "complete": bool(own and found)}


def _reached(name: str, variables: Mapping[str, Any], own: Sequence[str], resolve: Resolve) -> list[str]:
    """The addresses under which the inventory has it; of a name, those that are its own."""
    at = _address.of(name, variables)
    try:
        return [str(ipaddress.ip_address(at))]
    except ValueError:
        pass
    found = list(resolve(at))
    mine = [item for item in found if item in own]
    return mine or ([] if own else found)


def _own(facts: Mapping[str, Any]) -> list[str] | None:
    """The node's own addresses, None where nobody looked, or what it tells is no address."""
    if "all_ipv4_addresses" not in facts and "all_ipv6_addresses" not in facts:
        return None
    try:
        return [
            str(ipaddress.ip_address(entry.partition("%")[0]))
            for family in ("all_ipv4_addresses", "all_ipv6_addresses")
            for entry in read(list[str], facts.get(family) or [])
        ]
    except ValueError:
        return None


def _goes(address: str) -> bool:
    """Whether packets to other hosts can come from it."""
    known = ipaddress.ip_address(address)
    return not (known.is_loopback or known.is_link_local or known.is_multicast)
