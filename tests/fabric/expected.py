# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be said of each fault, what may be said beside it, and of whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.rig import parts
from sandbox.rig.faults.who import HOST, NEIGHBOUR
from sandbox.rig.topology import Topology, members

Names = tuple[str, ...]
_CABLE = f"{HOST} mlx5_0/1"
# Of a host whose HCAs are all gone, the host is named.
_PRESENT = "fabric.hca.present"


@dataclass(frozen=True)
class Expected:
    """``check`` must fail and name all of ``names``; ``also`` may fail beside it, nothing else.

    ``planned``: what may fail where there is a plan of the cables. ``unknown``: what cannot be told
    then. ``with_plan``: it takes a plan to see the fault.
    """

    check: str
    names: Callable[[Topology], Names]
    also: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    with_plan: bool = False


def always(*names: str) -> Callable[[Topology], Names]:
    """The same names in every topology."""
    return lambda topology: names


def _last_leaf_s_hosts(topology: Topology) -> Names:
    leaf = parts.leaves(topology)[-1].id
    return tuple(node.host for node in topology.nodes if node.host and parts.end_of(topology, node).node == leaf)


def _last_leaf(topology: Topology) -> Names:
    return (parts.leaves(topology)[-1].name,)


def _leaf_s_port(topology: Topology) -> Names:
    end = parts.end_of(topology, topology.hca(HOST, 0))
    (leaf,) = (node for node in topology.nodes if node.id == end.node)
    return (f"{leaf.name}/{end.port}", _CABLE)


def _guid(topology: Topology) -> Names:
    return (members(topology)[HOST]["mlx5_0/1"]["port_guid"], HOST, NEIGHBOUR)


EXPECTED: dict[str, Expected] = {
    "cable-pulled": Expected(_PRESENT, always(_CABLE), planned=("fabric.cabling.missing",)),
    "cables-swapped": Expected("fabric.cabling.swapped", always(_CABLE, f"{NEIGHBOUR} mlx5_0/1"), with_plan=True),
    "degraded-speed": Expected("fabric.cable.speed", _leaf_s_port),
    "degraded-width": Expected("fabric.cable.width", _leaf_s_port),
    # Of the node's GUID the look shows one holder alone, and which of the two lies it cannot tell.
    "duplicate-guid": Expected(
        "fabric.guid.unique", _guid, (_PRESENT,), ("fabric.cabling.place",), ("fabric.guid.unique",)
    ),
    "error-burst": Expected("fabric.cable.errors", _leaf_s_port),
    "leaf-dead": Expected(
        "fabric.leaf.present",
        _last_leaf_s_hosts,
        (_PRESENT, "fabric.sm.standby"),
        ("fabric.switch.present",),
    ),
    "lossy": Expected("fabric.cable.errors", _leaf_s_port),
    "mixed-generation": Expected("fabric.cable.generation", _leaf_s_port),
    "no-sm": Expected(
        "fabric.sm.master",
        always(),
        unknown=(
            "fabric.sm.standby",
            "fabric.sm.priority",
            "fabric.tool.answered",
            "fabric.cable.errors",
            "fabric.counters.saturated",
        ),
    ),
    "node-missing": Expected(_PRESENT, always(HOST), planned=("fabric.cabling.missing",)),
    "rails-swapped": Expected(
        "fabric.rail.leaf",
        always(_CABLE, f"{HOST} mlx5_1/1"),
        planned=("fabric.cabling.swapped",),
    ),
    "spine-dead": Expected("fabric.spine.present", always(), planned=("fabric.switch.present",)),
    "standby-missing": Expected("fabric.sm.standby", always()),
    "two-masters": Expected(
        "fabric.sm.master",
        always("sm1 mlx5_0", "sm2 mlx5_0"),
        ("fabric.sm.standby", "fabric.link.state"),
    ),
    "unknown-node": Expected("fabric.hca.known", always("stranger mlx5_0"), planned=("fabric.cabling.extra",)),
    "uplink-misplaced": Expected("fabric.leaf.spread", _last_leaf, planned=("fabric.cabling.place",)),
    "uplink-pulled": Expected("fabric.leaf.uplinks", _last_leaf, planned=("fabric.cabling.missing",)),
    "wrong-rail": Expected("fabric.rail.leaf", always(_CABLE), planned=("fabric.cabling.place",)),
}
