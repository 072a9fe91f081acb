# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables, hosts and switches that are not where they should be.

What breaks in a running fabric is unplugged by ibsim's console; what was built wrong is another
netfile.
"""

from __future__ import annotations

from sandbox.rig import parts
from sandbox.rig.faults.who import HOST, NEIGHBOUR
from sandbox.rig.orders import console, sweep
from sandbox.rig.plan import Plan, healthy
from sandbox.rig.topology import End, Node, Topology


def cable_pulled(topology: Topology) -> Plan:
    """The cable of a host's first HCA is unplugged."""
    return _unplugged(topology, topology.hca(HOST, 0))


def node_missing(topology: Topology) -> Plan:
    """A host is off: none of its HCAs has a link."""
    return _unplugged(topology, *(node for node in topology.nodes if node.host == HOST))


def leaf_dead(topology: Topology) -> Plan | None:
    """A leaf switch without power; not that of the host which asks."""
    leaves = parts.leaves(topology)
    return _unplugged(topology, leaves[-1]) if len(leaves) > 1 else None


def spine_dead(topology: Topology) -> Plan | None:
    """A spine switch without power."""
    spines = parts.spines(topology)
    return _unplugged(topology, spines[-1]) if spines else None


def uplink_pulled(topology: Topology) -> Plan | None:
    """One of the cables between a leaf and a spine is unplugged."""
    uplinks = parts.uplinks(topology, parts.leaves(topology)[-1].id)
    if not uplinks:
        return None
    return healthy(topology).then(console(f"Unlink {uplinks[0].a}"), sweep())


def cables_swapped(topology: Topology) -> Plan:
    """Two neighbours' cables have changed places on their leaf."""
    return _crossed(topology, topology.hca(HOST, 0), topology.hca(NEIGHBOUR, 0))


def rails_swapped(topology: Topology) -> Plan | None:
    """The first two HCAs of a host are plugged crosswise."""
    if not parts.has_rails(topology):
        return None
    return _crossed(topology, topology.hca(HOST, 0), topology.hca(HOST, 1))


def wrong_rail(topology: Topology) -> Plan | None:
    """The first HCA of a host is plugged into the leaf of the second rail."""
    if not parts.has_rails(topology):
        return None
    leaf = parts.end_of(topology, topology.hca(HOST, 1)).node
    moved = End(topology.hca(HOST, 0).id, 1)
    return healthy(parts.replugged(topology, {moved: parts.free(topology, leaf)}))


def _unplugged(topology: Topology, *nodes: Node) -> Plan:
    lines = [console(f'Unlink "{node.id}"') for node in nodes]
    return healthy(topology).then(*lines, sweep())


def _crossed(topology: Topology, one: Node, other: Node) -> Plan:
    places = {
        End(one.id, 1): parts.end_of(topology, other),
        End(other.id, 1): parts.end_of(topology, one),
    }
    return healthy(parts.replugged(topology, places))
