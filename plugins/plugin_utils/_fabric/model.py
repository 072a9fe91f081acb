# SPDX-License-Identifier: GPL-3.0-or-later
"""One fabric: nodes, cables, and whose they are.

GUIDs are lower case without 0x and leading zeros, as the parser of ibnetdiscover has them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...module_utils._parse.iblinkinfo import Port

LEAF = "leaf"
SPINE = "spine"
CORE = "core"
HEIGHT = {LEAF: 1, SPINE: 2, CORE: 3}
# Gb/s of one lane, as ibnetdiscover names the speeds (InfiniBand architecture specification;
# of NDR and XDR the data rate, for iblinkinfo prints their signalling rate).
LANE_GBPS = {
    "SDR": 2.5,
    "DDR": 5.0,
    "QDR": 10.0,
    "FDR10": 10.3,
    "FDR": 14.0,
    "EDR": 25.0,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}


def guid(text: str) -> str:
    """A GUID as everybody here writes it."""
    return text.lower().removeprefix("0x").replace(":", "").lstrip("0")


class End(NamedTuple):
    """A port of a node: where a cable is plugged in."""

    guid: str
    port: int


class Cable(NamedTuple):
    """A link that is up. ``a`` is the end further down: adapter, leaf, spine, core."""

    a: End
    b: End
    width: str
    speed: str

    @property
    def gbps(self) -> float:
        """Its data rate, 0 where width or speed is not known."""
        lanes = self.width.rstrip("x")
        return int(lanes) * LANE_GBPS.get(self.speed, 0.0) if lanes.isdigit() else 0.0

    @property
    def named(self) -> str:
        """``4x NDR``."""
        return f"{self.width} {self.speed}"


@dataclass(frozen=True)
class Hca:
    """A port of an inventory host that is one of its InfiniBand rails.

    ``name``: "mlx5_0/1". ``rail``: its place among the host's rails, from 0. ``state``: what the
    host itself says of the port. ``place``: where its PCI address stands among those of the
    host's rails, from 0; -1 where that was not told.
    """

    host: str
    name: str
    node_guid: str
    port_guid: str
    rail: int
    state: str = ""
    place: int = -1

    @property
    def named(self) -> str:
        return f"{self.host} {self.name}"


@dataclass(frozen=True)
class Inventory:
    """Whose HCAs are whose.

    ``rails``: every rail's port. ``others``: node GUIDs of the hosts' other HCAs. ``silent``:
    hosts that told nothing of theirs, and why. ``known``: GUIDs and name patterns of what belongs
    to the fabric though it is in no inventory. ``cliques``: of every host that told of itself the NVLink
    domain of its GPUs, "" for one without, None where nobody could tell. ``heard``: by host and port, who had
    pings with it answered.
    """

    rails: tuple[Hca, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    silent: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    cliques: Mapping[str, str | None] = field(default_factory=dict)
    heard: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Node:
    """``level`` of a switch: LEAF, SPINE or CORE; "" of others."""

    guid: str
    type: str
    name: str
    level: str = ""


@dataclass(frozen=True)
class Fabric:
    """``far``: from every end of a cable to the other. ``lines``: what iblinkinfo says of a port.

    ``twice``: far ends that several ports say they lead to. ``hcas``: rails by their end.
    ``ports``: node by the GUID of one of its ports. ``claimed``: rails whose end another rail has, by the same GUID.
    """

    name: str
    asked: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    cables: tuple[Cable, ...] = ()
    far: Mapping[End, End] = field(default_factory=dict)
    twice: Mapping[End, tuple[End, ...]] = field(default_factory=dict)
    lines: Mapping[End, Port] = field(default_factory=dict)
    hcas: Mapping[End, Hca] = field(default_factory=dict)
    ports: Mapping[str, str] = field(default_factory=dict)
    claimed: Collection[Hca] = frozenset()

    def switches(self, level: str) -> list[Node]:
        """The switches of a level, by name."""
        mine = (node for node in self.nodes.values() if node.level == level)
        return sorted(mine, key=lambda node: (node.name, node.guid))

    def node_name(self, node_guid: str) -> str:
        node = self.nodes.get(node_guid)
        return (node.name if node is not None else "") or f"0x{node_guid:0>16}"

    def end_name(self, end: End) -> str:
        """``leaf1/33``; of an inventory HCA host and port: ``node3 mlx5_0/1``."""
        hca = self.hcas.get(end)
        return hca.named if hca is not None else f"{self.node_name(end.guid)}/{end.port}"

    def cable_name(self, cable: Cable) -> str:
        return f"{self.end_name(cable.a)} - {self.end_name(cable.b)}"
