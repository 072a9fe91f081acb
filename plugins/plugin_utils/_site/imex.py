# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts share GPU memory by IMEX: the nodes_config.cfg of each, for all hosts of the inventory at once.

Every host of a domain has to have the same file (NVIDIA's IMEX guide, deployment models), so a list
is made of all its hosts or not at all.
"""

from __future__ import annotations

import functools
import ipaddress
import socket
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ansible.vars.hostvars import HostVars

from ...module_utils._ground.text import few
from .._ground import address
from .._ground.dicts import as_dict

NODES, DOMAIN = "nvidia_driver_imex_nodes", "nvidia_driver_imex_domain"
# Hosts that a reason names.
_SHOWN = 4


class Domain(TypedDict):
    """``nodes``: the addresses, in one order on all hosts. ``why``: why there are none."""

    nodes: list[str]
    why: str


def domains(hostvars: Mapping[str, Any], names: Sequence[str]) -> dict[str, Domain]:
    """The domain of every host that is in one: as the inventory says, else as the GPUs tell."""
    known = {name: _variables(hostvars, name) for name in names}
    named = {name: str(own.get(DOMAIN) or "") for name, own in known.items()}
    told = {name: _told(own) for name, own in known.items()}
    found: dict[str, Domain] = {}
    for name, own in known.items():
        if own.get(NODES):
            found[name] = _listed(name, own)
        elif named[name]:
            found[name] = _members([other for other in names if named[other] == named[name]], known)
        elif told[name] != "":
            found[name] = _by_clique(name, told, known, named)
    return found


def _variables(hostvars: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What this reads of one host. Each is templated when it is read: of hosts in no rack that costs
    milliseconds, and other variables may lack what only a run of their own gives them."""
    if not isinstance(hostvars, HostVars):
        return as_dict(hostvars.get(name))
    raw = as_dict(hostvars.raw_get(name))
    told = {"ibready_node": raw.get("ibready_node"), **{key: None for key in (NODES, DOMAIN) if key not in raw}}
    lazy: Any = hostvars[name]
    return ChainMap(told, lazy)


def _told(variables: Mapping[str, Any]) -> str | None:
    """The NVLink domain that node_facts told; "" for a host without; None where nobody could tell."""
    node = as_dict(as_dict(variables.get("ibready_node")).get("node"))
    if not node:
        return None
    domain = node.get("nvlink_domain")
    return domain if isinstance(domain, str) else None


def _by_clique(
    name: str,
    told: Mapping[str, str | None],
    known: Mapping[str, Mapping[str, Any]],
    named: Mapping[str, str],
) -> Domain:
    mine = told[name]
    if mine is None:
        return {"nodes": [], "why": f"its GPUs tell of no NVLink domain yet; next: set {DOMAIN}, or run this again"}
    silent = [other for other, domain in told.items() if domain is None and not named[other]]
    if silent:
        why = f"{few(silent, _SHOWN)} may be of its domain and did not tell"
        return {"nodes": [], "why": f"{why}; next: set {DOMAIN} on all hosts of the rack, or have them answer"}
    members = [other for other, domain in told.items() if domain == mine]
    apart = [other for other in members if named[other] or known[other].get(NODES)]
    if apart:
        why = f"{few(apart, _SHOWN)} of its NVLink domain has {DOMAIN} or {NODES}, and it has neither"
        return {"nodes": [], "why": f"{why}; next: set the same on all of them"}
    return _members(members, known)


def _members(members: Sequence[str], known: Mapping[str, Mapping[str, Any]]) -> Domain:
    found = []
    for member in members:
        at = address.of(member, known[member])
        numeric = _numeric(at)
        if numeric is None:
            return {"nodes": [], "why": f"{at} is no address that others reach; next: set ibready_address of {member}"}
        found.append(numeric)
    if len(set(found)) < len(found):
        return {"nodes": [], "why": "two of its hosts have one address; next: set their ibready_address"}
    return {"nodes": found, "why": ""}


def _listed(name: str, own: Mapping[str, Any]) -> Domain:
    given = own[NODES]
    nodes = [str(node) for node in given] if isinstance(given, list) else [str(given)]
    strange = next((node for node in nodes if not _usable(node)), "")
    mine = _numeric(address.of(name, own))
    why = ""
    if strange:
        why = f"{strange!r} is no address that others reach"
    elif len(set(nodes)) < len(nodes):
        why = "an address stands in it twice"
    elif mine is not None and mine not in nodes:
        why = f"the host itself is not in it ({mine})"
    return {"nodes": [], "why": f"{NODES}: {why}; next: fix it"} if why else {"nodes": nodes, "why": ""}


@functools.lru_cache(maxsize=4096)
def _numeric(text: str) -> str | None:
    """The IP address of a name or an address; None where there is none that other hosts could reach."""
    if _usable(text):
        return text
    try:
        found = socket.getaddrinfo(text, None, type=socket.SOCK_STREAM)
    except OSError:
        return None
    return next((str(entry[4][0]) for entry in found if _usable(str(entry[4][0]))), None)


def _usable(text: str) -> bool:
    try:
        at = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (at.is_loopback or at.is_unspecified or at.is_multicast or at.is_link_local)
