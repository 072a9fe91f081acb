# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are not who they should be."""

from __future__ import annotations

from dataclasses import replace

from sandbox.rig import parts
from sandbox.rig.faults.who import HOST, NEIGHBOUR
from sandbox.rig.orders import console
from sandbox.rig.plan import Plan, healthy
from sandbox.rig.topology import CA, Cable, End, Node, Topology

_FAR_AWAY = 0x10_0000


def unknown_node(topology: Topology) -> Plan:
    """A host that is in no inventory has a cable to the first leaf."""
    leaf = parts.leaves(topology)[0].id
    guid = max(node.guid for node in topology.nodes if node.kind == CA) + _FAR_AWAY
    stranger = Node("H-stranger-0", CA, 1, guid, "stranger mlx5_0", "stranger", "mlx5_0")
    cable = Cable(parts.free(topology, leaf), End(stranger.id, 1))
    return healthy(replace(topology, nodes=(*topology.nodes, stranger), cables=(*topology.cables, cable)))


def duplicate_guid(topology: Topology) -> Plan:
    """A host's HCA comes up with the GUIDs of its neighbour's.

    After the sweep: an opensm that finds a GUID twice gives up (its exit_on_fatal) or never ends.
    """
    twice = topology.hca(HOST, 0).guid
    copy = topology.hca(NEIGHBOUR, 0).id
    return healthy(topology).then(console(f'Guid "{copy}" 0x{twice:x}'))
