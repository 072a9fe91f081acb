# SPDX-License-Identifier: GPL-3.0-or-later
"""One host that a job may run on, from what the modules node_facts and ncclverify told of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....module_utils._areas.stack.contact_facts import NodeReported
from ....module_utils._expect.nccl_policy import SOCKET
from ....module_utils._ground.reading import Reading
from ....module_utils._nccl import derive_rails
from ....module_utils._nccl.derived import Derived, one_line
from ..._answers import apart, shapes
from ..._answers.typed import read
from ..._fleet import nccl_plan
from ..._ground import address as _address
from .words import is_argument, is_host, is_interface, is_loopback

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
    """What one host told of itself, and of NCCL."""

    node: NodeReported
    told: nccl_plan.Reported
    settings: Reading[dict[str, str]]


def gather(hostvars: Mapping[str, Any], names: list[str]) -> tuple[list[Node], dict[str, str]]:
    """The hosts that told what they are, in this order; and of the others, why not."""
    looked, absent = apart.each(names, lambda name: _looked(hostvars.get(name) or {}))
    derived = nccl_plan.plan({name: entry.told for name, entry in looked.items()}, looked, absent)
    nodes, odd = apart.each(
        looked,
        lambda name: _node(name, _address.of(name, hostvars[name]), looked[name], derived[name]),
    )
    return list(nodes.values()), {name: one_line(entry) for name, entry in (absent | odd).items()}


def _looked(seen: Mapping[str, Any]) -> _Looked:
    """What a host told; Absent where there is nothing."""
    reached, judged = seen.get(NODE) or {}, seen.get(LOOKED) or {}
    if not isinstance(reached.get("node"), Mapping):
        raise apart.Absent(f"not reached: {reached.get('msg') or 'it took no part in this run'}")
    if not isinstance(judged.get("facts"), Mapping):
        raise apart.Absent(f"ncclverify told nothing: {judged.get('msg') or 'it did not run there'}")
    node = read(NodeReported, reached["node"], "node")
    nccl = read(shapes.Looked, judged["facts"], "facts")["nccl"]
    return _Looked(node, nccl_plan.derivable(nccl["host"], nccl["wish"]), nccl["settings"])


def _node(name: str, address: str, looked: _Looked, derived: Derived) -> Node:
    """The host; Absent where no script can name it."""
    hostname = looked.node.get("hostname", "")
    if is_loopback(address):
        raise apart.Absent(f"others cannot reach it at {address}; next: set ibready_address")
    for word, what in ((address, "its address"), (hostname, "the name that it gives itself")):
        if not is_host(word):
            raise apart.Absent(f"{what}, {word!r}, is none that a script can hold")
    host, policy = looked.told.host, looked.told.wish.policy
    rails = derive_rails.rails(host, policy)
    lines = {setting.name: setting.value for setting in derived.settings}
    nccl, notes = _missing(lines, looked.settings)
    if rails.why:
        notes.append(f"which RDMA ports are rails is unknown: {rails.why}")
    notes += [f"{entry.name} may be needed and is unknown: {entry.why}" for entry in derived.untold]
    cards = sorted(host.gpus.value or (), key=lambda gpu: gpu.address)
    return Node(
        name=name,
        hostname=hostname,
        address=address,
        interface=_interface(lines),
        gpus=None if host.gpus.value is None else tuple(card.numa for card in cards),
        gpus_why=one_line(host.gpus.why),
        rails=tuple(dict.fromkeys((port.device, port.numa) for port in rails.ports)),
        rails_why=one_line(rails.why),
        rdma=bool(looked.node.get("rdma_devices")),
        nccl=nccl,
        notes=tuple(one_line(note) for note in notes),
        simulated=one_line(looked.node.get("simulated", "")),
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
