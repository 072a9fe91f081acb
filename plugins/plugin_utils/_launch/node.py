# SPDX-License-Identifier: GPL-3.0-or-later
"""One host that a job may run on, from what the modules node_facts and ncclverify told of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import (
    Reading,
    rebuilt,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import derive_rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import (
    Derived,
    one_line,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import SOCKET
from ansible_collections.ibready.cluster.plugins.plugin_utils import _address, _nccl_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.words import (
    is_argument,
    is_host,
    is_interface,
    is_loopback,
)

NODE, LOOKED = "ibready_node", "ibready_launch_looked"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,127}")


@dataclass(frozen=True)
class Node:
    """``hostname``: as `uname -n` says. ``address``: where the other hosts reach it, and
    ``interface``: which one holds the way to them, "" where that is not known. ``gpus``: the NUMA
    node of each in the order of the PCI bus, -1 where nobody tells; None with ``gpus_why``.
    ``rails``: name and NUMA node of each; () with ``rails_why`` where they cannot be told.
    ``nccl``: variables that the host needs and its nccl.conf
    does not set. ``notes``: what could not be known."""

    name: str
    hostname: str
    address: str
    interface: str = ""
    gpus: tuple[int, ...] | None = None
    gpus_why: str = ""
    rails: tuple[tuple[str, int], ...] = ()
    rails_why: str = ""
    rdma: bool = False
    nccl: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    simulated: str = ""


@dataclass(frozen=True)
class _Looked:
    """What one host told of NCCL."""

    told: _nccl_plan.Told
    settings: Reading[dict[str, str]]


def gather(hostvars: Mapping[str, Any], names: list[str]) -> tuple[list[Node], dict[str, str]]:
    """The hosts that told what they are, in this order; and of the others, why not."""
    looked: dict[str, _Looked] = {}
    absent: dict[str, str] = {}
    for name in names:
        found = _looked(name, hostvars.get(name) or {})
        if isinstance(found, str):
            absent[name] = one_line(found)
        else:
            looked[name] = found
    derived = _nccl_plan.plan({name: one.told for name, one in looked.items()}, looked, absent)
    nodes = []
    for name, one in looked.items():
        made = _node(name, hostvars[name], one, derived[name])
        if isinstance(made, str):
            absent[name] = made
        else:
            nodes.append(made)
    return nodes, absent


def _looked(name: str, seen: Mapping[str, Any]) -> _Looked | str:
    """What a host told, or why nothing can be used."""
    reached, judged = seen.get(NODE) or {}, seen.get(LOOKED) or {}
    if not isinstance(reached.get("node"), Mapping):
        return f"not reached: {reached.get('msg') or 'it took no part in this run'}"
    if not isinstance(judged.get("facts"), Mapping):
        return f"ncclverify told nothing: {judged.get('msg') or 'it did not run there'}"
    try:
        raw = judged["facts"]["nccl"]
        told = _nccl_plan.told(name, raw["host"], raw["wish"])
        return _Looked(told, rebuilt(raw["settings"], dict))
    except (KeyError, TypeError, ValueError) as exc:
        return f"ncclverify returned what cannot be read: {exc!r}"


def _node(name: str, seen: Mapping[str, Any], looked: _Looked, derived: Derived) -> Node | str:
    """The host, or why no script can name it."""
    raw, address = seen[NODE]["node"], _address.of(name, seen)
    hostname = str(raw.get("hostname") or "")
    if is_loopback(address):
        return f"others cannot reach it at {address}; next: set ibready_address"
    for word, what in ((address, "its address"), (hostname, "the name that it gives itself")):
        if not is_host(word):
            return one_line(f"{what}, {word!r}, is none that a script can hold")
    host, policy = looked.told.host, looked.told.wish.policy
    rails = derive_rails.rails(host, policy)
    lines = {one.name: one.value for one in derived.settings}
    nccl, notes = _missing(lines, looked.settings)
    if rails.why:
        notes.append(f"which RDMA ports are rails is unknown: {rails.why}")
    notes += [f"{one.name} may be needed and is unknown: {one.why}" for one in derived.untold]
    cards = sorted(host.gpus.value or (), key=lambda one: one.address)
    return Node(
        name=name,
        hostname=hostname,
        address=address,
        interface=_interface(lines),
        gpus=None if host.gpus.value is None else tuple(one.numa for one in cards),
        gpus_why=one_line(host.gpus.why),
        rails=tuple(dict.fromkeys((one.device, one.numa) for one in rails.ports)),
        rails_why=one_line(rails.why),
        rdma=bool(raw.get("rdma_devices")),
        nccl=nccl,
        notes=tuple(one_line(one) for one in notes),
        simulated=one_line(str(raw.get("simulated") or "")),
    )


def _missing(
    lines: Mapping[str, str], settings: Reading[dict[str, str]]
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The lines that nccl.conf does not have; none where nobody could read that."""
    if settings.value is None and not settings.missing:
        why = settings.why or "nobody looked"
        return (), [f"no NCCL variable is set, for what nccl.conf has is unknown: {why}"]
    there = settings.value or {}
    lacking = {name: value for name, value in lines.items() if there.get(name) != value}
    odd = [name for name, value in lacking.items() if not _fits(name, value)]
    notes = [f"{name} is not set, for no script can hold it" for name in odd]
    return tuple((name, value) for name, value in lacking.items() if name not in odd), notes


def _fits(name: str, value: str) -> bool:
    return _VARIABLE.fullmatch(name) is not None and is_argument(value)


def _interface(lines: Mapping[str, str]) -> str:
    """The one interface that NCCL_SOCKET_IFNAME names exactly, ``=eth0``."""
    value = lines.get(SOCKET, "")
    name = value[1:] if value.startswith("=") else ""
    return name if is_interface(name) else ""
