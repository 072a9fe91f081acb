# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric as ibnetdiscover tells it: nodes, their ports, and what is at the other end of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# The three forms of the text.
TOPOLOGY = "topology"
PORTS = "ports-list"
NODES = "nodes-list"

SWITCH = "switch"
CA = "ca"
ROUTER = "router"


class Link(NamedTuple):
    """One end of a link that is up. GUIDs are lower case without 0x and leading zeros.

    ``peer`` is the GUID of the node at the other end (with ``-p``, of its port), ``width`` "4x",
    ``speed`` "NDR" or "???"; ``lid`` None where only the other end's was told. ``port_guid``: of
    this end, where the line shows it (adapters).
    """

    port: int
    lid: int | None
    width: str
    speed: str
    peer_type: str
    peer: str
    peer_port: int
    peer_lid: int
    peer_name: str
    port_guid: str = ""


@dataclass(frozen=True)
class Node:
    """A switch, channel adapter or router. With ``-p`` each port of an adapter is a node.

    ``system`` is the GUID that chips of one device share; ``dangling`` the ports of a list whose
    other end nobody found.
    """

    type: str
    guid: str
    name: str
    n_ports: int | None
    lid: int | None
    device_id: str
    system: str
    links: tuple[Link, ...]
    dangling: tuple[tuple[int, str, str], ...] = ()


@dataclass(frozen=True)
class Ibnetdiscover:
    """The fabric as one host saw it; or nothing, and what the tool complained of.

    ``initiated_from`` is the asking node's GUID, "" where the text does not say.
    """

    format: str
    nodes: tuple[Node, ...]
    initiated_from: str = ""
    error_lines: tuple[str, ...] = ()

    def of(self, kind: str) -> tuple[Node, ...]:
        """The nodes of one type: SWITCH, CA or ROUTER."""
        return tuple(node for node in self.nodes if node.type == kind)
