# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a topology that faults are about, and topologies with one part changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sandbox.rig.topology import SWITCH, Cable, End, Node, Topology


def leaves(topology: Topology) -> tuple[Node, ...]:
    """The switches to which hosts are plugged."""
    hosts = {node.id for node in topology.nodes if node.host}
    below = {cable.other(end.node).node for cable in topology.cables for end in (cable.a, cable.b) if end.node in hosts}
    return tuple(node for node in topology.nodes if node.id in below)


def spines(topology: Topology) -> tuple[Node, ...]:
    """The switches without hosts."""
    lower = leaves(topology)
    return tuple(node for node in topology.nodes if node.kind == SWITCH and node not in lower)


def uplinks(topology: Topology, leaf: str) -> tuple[Cable, ...]:
    """The cables from a leaf (by id) to spines."""
    upper = {node.id for node in spines(topology)}
    return tuple(cable for cable in topology.cables if cable.ends_at(leaf) and cable.other(leaf).node in upper)


def has_rails(topology: Topology) -> bool:
    """Whether a host's HCAs are on different leaves."""
    return any(node.device == "mlx5_1" for node in topology.nodes)


def end_of(topology: Topology, node: Node) -> End:
    """Where the one cable of an HCA ends."""
    (cable,) = topology.cables_of(node)
    return cable.other(node.id)


def free(topology: Topology, switch: str) -> End:
    """The first port of a switch (by id) without a cable."""
    ends = {end for cable in topology.cables for end in (cable.a, cable.b)}
    return next(end for port in range(1, 999) if (end := End(switch, port)) not in ends)


def replugged(topology: Topology, places: Mapping[End, End]) -> Topology:
    """The same, with the cables of some HCAs' ends (keys) in other places (values)."""

    def moved(cable: Cable) -> Cable:
        for mine in (cable.a, cable.b):
            if mine in places:
                return replace(cable, a=mine, b=places[mine])
        return cable

    return replace(topology, cables=tuple(moved(cable) for cable in topology.cables))


def trained(topology: Topology, node: Node, *, width: int = 4, speed: str = "NDR") -> Topology:
    """The same, with the cable of an HCA trained to something else."""
    cables = tuple(
        replace(cable, width=width, speed=speed) if cable.ends_at(node.id) else cable for cable in topology.cables
    )
    return replace(topology, cables=cables)
