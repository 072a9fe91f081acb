# SPDX-License-Identifier: GPL-3.0-or-later
"""Cables, hosts and switches that are not where they should be.

What breaks in a running fabric is unplugged by ibsim's console; what was built wrong is another
netfile. A real switch counts links that go down; ibsim does not, so the counter is set along.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.rig import parts
from sandbox.rig.faults.who import HOST, NEIGHBOUR
from sandbox.rig.orders import console, sweep
from sandbox.rig.plan import Plan, healthy
from sandbox.rig.topology import SWITCH, Cable, End, Node, Topology


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
    return _gone(topology, uplinks[:1])


def uplink_misplaced(topology: Topology) -> Plan | None:
    """One of a leaf's uplinks is plugged into another spine; the leaf has as many as before."""
    uplinks = parts.uplinks(topology, parts.leaves(topology)[-1].id)
    if not uplinks:
        return None
    leaf = parts.leaves(topology)[-1].id
    moved, other = uplinks[-1], uplinks[0].other(leaf).node
    mine = moved.a if moved.a.node == leaf else moved.b
    return healthy(parts.replugged(topology, {mine: parts.free(topology, other)}))


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
    return _gone(topology, [cable for node in nodes for cable in topology.cables_of(node)])


def _gone(topology: Topology, cables: Sequence[Cable]) -> Plan:
    switches = {node.id for node in topology.nodes if node.kind == SWITCH}
    lines = [console(f"Unlink {cable.a}") for cable in cables]
    lines += [
        console(f"PerformanceSet {end} PortCounters.LinkDownedCounter=1")
        for cable in cables
        for end in (cable.a, cable.b)
        if end.node in switches
    ]
    return healthy(topology).then(*lines, sweep())


def _crossed(topology: Topology, node: Node, other: Node) -> Plan:
    places = {
        End(node.id, 1): parts.end_of(topology, other),
        End(other.id, 1): parts.end_of(topology, node),
    }
    return healthy(parts.replugged(topology, places))
