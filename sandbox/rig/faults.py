# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a fabric, and how ibsim and opensm are brought to show it.

A fault takes a topology and returns a plan, or None where the topology has nothing of the kind.
What breaks a running fabric is done by ibsim's console; what was built wrong is another netfile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sandbox.rig.container import Step, console, end_sm, pause, sm, sweep
from sandbox.rig.topology import CA, SWITCH, Cable, End, Node, Topology

_HOST = "node3"
_NEIGHBOUR = "node4"
# More than any site accepts of one cable between two looks.
_BURST = 500
# Percent of the management packets that a bad cable loses.
_LOSS = 5


@dataclass(frozen=True)
class Plan:
    """What is built, what happens before the first look, and what between both looks."""

    topology: Topology
    managers: tuple[Step, ...]
    steps: tuple[Step, ...] = ()
    between: tuple[Step, ...] = ()
    subjects: tuple[str, ...] = field(default=())


Fault = Callable[[Topology], Plan | None]


def managers(topology: Topology) -> tuple[Step, ...]:
    """A subnet manager on each of the hosts that are to have one; the first is the master."""
    started = [
        sm(host, sm_priority=str(14 - place)) for place, host in enumerate(topology.sms)
    ]
    return (*started, sweep())


def healthy(topology: Topology) -> Plan:
    return Plan(topology, managers(topology))


def cable_pulled(topology: Topology) -> Plan:
    """A host's cable is unplugged while the fabric runs."""
    return _unlinked(topology, (topology.hca(_HOST, 0),))


def node_missing(topology: Topology) -> Plan:
    """A host is off: all its HCAs have no link."""
    return _unlinked(topology, tuple(node for node in topology.nodes if node.host == _HOST))


def leaf_dead(topology: Topology) -> Plan | None:
    """A leaf switch without power; not the one of those who ask and manage."""
    return _unlinked(topology, leaves(topology)[-1:]) if len(leaves(topology)) > 1 else None


def spine_dead(topology: Topology) -> Plan | None:
    """A spine switch without power."""
    return _unlinked(topology, spines(topology)[-1:]) if spines(topology) else None


def uplink_pulled(topology: Topology) -> Plan | None:
    """One of the cables between a leaf and a spine is unplugged: the leaf is asymmetric."""
    uplinks = _uplinks(topology)
    if not uplinks:
        return None
    line = console(f"Unlink {uplinks[0].a}")
    return replace(healthy(topology), steps=(line, sweep()))


def cables_swapped(topology: Topology) -> Plan:
    """Two neighbours' cables change places on their leaf."""
    one, other = (topology.hca(host, 0) for host in (_HOST, _NEIGHBOUR))
    (first,), (second,) = topology.cables_of(one), topology.cables_of(other)
    return _replugged(
        topology,
        {End(one.id, 1): second.other(other.id), End(other.id, 1): first.other(one.id)},
    )


def wrong_rail(topology: Topology) -> Plan | None:
    """A host's first HCA is plugged into the leaf of its second rail."""
    if not has_rails(topology):
        return None
    one, other = topology.hca(_HOST, 0), topology.hca(_HOST, 1)
    leaf = topology.cables_of(other)[0].other(other.id).node
    return _replugged(topology, {End(one.id, 1): _free(topology, leaf)})


def rails_swapped(topology: Topology) -> Plan | None:
    """A host's first two HCAs are plugged crosswise."""
    if not has_rails(topology):
        return None
    one, other = topology.hca(_HOST, 0), topology.hca(_HOST, 1)
    (first,), (second,) = topology.cables_of(one), topology.cables_of(other)
    return _replugged(
        topology,
        {End(one.id, 1): second.other(other.id), End(other.id, 1): first.other(one.id)},
    )


def degraded_speed(topology: Topology) -> Plan:
    """A cable between two NDR ports has trained to HDR."""
    return healthy(_trained(topology, topology.hca(_HOST, 0), speed="HDR"))


def degraded_width(topology: Topology) -> Plan:
    """A cable has trained to one lane of four."""
    return healthy(_trained(topology, topology.hca(_HOST, 0), width=1))


def mixed_generation(topology: Topology) -> Plan:
    """A host with an old HCA, which can do QDR only: the oldest that ibsim tells from NDR."""
    return healthy(_trained(topology, topology.hca(_HOST, 0), speed="QDR"))


def error_burst(topology: Topology) -> Plan:
    """The switch port of one host counts symbol errors between both looks."""
    node = topology.hca(_HOST, 0)
    end = topology.cables_of(node)[0].other(node.id)
    line = console(f"PerformanceSet {end} PortCounters.SymbolErrorCounter={_BURST}")
    return replace(healthy(topology), between=(line,))


def lossy(topology: Topology) -> Plan:
    """A host's port drops some of what it receives, and counts it."""
    node = topology.hca(_HOST, 0)
    return replace(healthy(topology), steps=(console(f"Error {End(node.id, 1)} {_LOSS}"),))


def no_sm(topology: Topology) -> Plan:
    """Every subnet manager has ended; the fabric runs on as they left it."""
    return replace(healthy(topology), steps=tuple(end_sm(host) for host in topology.sms))


def standby_missing(topology: Topology) -> Plan:
    """Only the first of the subnet managers runs."""
    return Plan(topology, (sm(topology.sms[0], sm_priority="14"),))


def unknown_node(topology: Topology) -> Plan:
    """A host that is in no inventory has a cable to the first leaf."""
    leaf = leaves(topology)[0]
    guid = max(node.guid for node in topology.nodes if node.kind == CA) + 0x1000
    stranger = Node("H-stranger-0", CA, 1, guid, "stranger mlx5_0", "stranger", "mlx5_0")
    cable = Cable(_free(topology, leaf.id), End(stranger.id, 1))
    return healthy(
        replace(
            topology,
            nodes=(*topology.nodes, stranger),
            cables=(*topology.cables, cable),
        )
    )


def duplicate_guid(topology: Topology) -> Plan:
    """Two hosts' HCAs have the same GUIDs."""
    one, other = (topology.hca(host, 0) for host in (_HOST, _NEIGHBOUR))
    nodes = tuple(
        replace(node, guid=one.guid) if node is other else node for node in topology.nodes
    )
    return healthy(replace(topology, nodes=nodes))


def leaves(topology: Topology) -> tuple[Node, ...]:
    """The switches to which hosts are plugged."""
    hosts = {node.id for node in topology.nodes if node.host}
    below = {
        cable.other(end.node).node
        for cable in topology.cables
        for end in (cable.a, cable.b)
        if end.node in hosts
    }
    return tuple(node for node in topology.nodes if node.id in below)


def spines(topology: Topology) -> tuple[Node, ...]:
    """The switches without hosts."""
    below = leaves(topology)
    return tuple(n for n in topology.nodes if n.kind == SWITCH and n not in below)


def has_rails(topology: Topology) -> bool:
    """Whether a host's HCAs are on different leaves."""
    return any(node.device == "mlx5_1" for node in topology.nodes)


def _uplinks(topology: Topology) -> tuple[Cable, ...]:
    upper = {node.id for node in spines(topology)}
    last = leaves(topology)[-1].id
    return tuple(
        cable
        for cable in topology.cables
        if cable.ends_at(last) and cable.other(last).node in upper
    )


def _unlinked(topology: Topology, nodes: tuple[Node, ...]) -> Plan:
    lines = [console(f'Unlink "{node.id}"') for node in nodes]
    return replace(healthy(topology), steps=(*lines, sweep()))


def _replugged(topology: Topology, moves: dict[End, End]) -> Plan:
    """Unplug the ends that move, then plug each into its new place."""
    lines = [console(f"Unlink {end}") for end in moves]
    lines += [console(f"Link {end} {place}") for end, place in moves.items()]
    return replace(healthy(topology), steps=(*lines, sweep()))


def _trained(topology: Topology, node: Node, *, width: int = 4, speed: str = "NDR") -> Topology:
    cables = tuple(
        replace(cable, width=width, speed=speed) if cable.ends_at(node.id) else cable
        for cable in topology.cables
    )
    return replace(topology, cables=cables)


def _free(topology: Topology, switch: str) -> End:
    """The first port of a switch without a cable."""
    used = {
        end.port
        for cable in topology.cables
        for end in (cable.a, cable.b)
        if end.node == switch
    }
    return End(switch, next(port for port in range(1, len(used) + 2) if port not in used))


__all__ = ["pause"]
