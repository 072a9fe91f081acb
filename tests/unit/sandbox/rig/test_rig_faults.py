# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of faults: what they change of a fabric, and what they leave."""

from __future__ import annotations

import pytest

from sandbox.rig import parts, shapes
from sandbox.rig.faults import FAULTS
from sandbox.rig.plan import Plan, healthy
from sandbox.rig.topology import End, Topology, netfile

SMALL = [shape() for shape in shapes.SMALL]
_RAILS = SMALL[-1]


def plans() -> list[tuple[str, Topology, Plan]]:
    found = []
    for name, fault in FAULTS.items():
        for topology in SMALL:
            plan = fault(topology)
            if plan is not None:
                found.append((f"{name} in {topology.name}", topology, plan))
    return found


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_be_planted_in_the_rails(name: str) -> None:
    assert FAULTS[name](_RAILS) is not None


@pytest.mark.parametrize(("topology", "plan"), [row[1:] for row in plans()], ids=[row[0] for row in plans()])
def test_every_plan_differs_from_the_healthy_one(topology: Topology, plan: Plan) -> None:
    assert plan != healthy(topology)


def test_what_needs_spines_or_rails_is_not_planted_without() -> None:
    single = SMALL[0]
    without = {name for name, fault in FAULTS.items() if fault(single) is None}
    assert without == {
        "leaf-dead",
        "rails-swapped",
        "spine-dead",
        "two-masters",
        "uplink-misplaced",
        "uplink-pulled",
        "wrong-rail",
    }


def test_swapped_cables_are_plugged_into_each_other_s_ports() -> None:
    plan = FAULTS["cables-swapped"](_RAILS)
    assert plan is not None
    before = {name: parts.end_of(_RAILS, _RAILS.hca(name, 0)) for name in ("node3", "node4")}
    after = {name: parts.end_of(plan.topology, plan.topology.hca(name, 0)) for name in ("node3", "node4")}
    assert after == {"node3": before["node4"], "node4": before["node3"]}
    assert before["node3"].node == before["node4"].node


def test_a_wrong_rail_is_a_free_port_of_the_next_rail_s_leaf() -> None:
    plan = FAULTS["wrong-rail"](_RAILS)
    assert plan is not None
    place = parts.end_of(plan.topology, plan.topology.hca("node3", 0))
    assert place.node == "S-leaf1-2"
    ends = [end for cable in _RAILS.cables for end in (cable.a, cable.b)]
    assert place not in ends


def test_a_misplaced_uplink_leaves_the_leaf_as_many() -> None:
    plan = FAULTS["uplink-misplaced"](_RAILS)
    assert plan is not None
    leaf = parts.leaves(_RAILS)[-1].id
    before, after = (parts.uplinks(topology, leaf) for topology in (_RAILS, plan.topology))
    assert len(before) == len(after) == 2
    assert [len({cable.other(leaf).node for cable in cables}) for cables in (before, after)] == [2, 1]


def test_a_degraded_cable_is_one_cable_at_both_ends() -> None:
    plan = FAULTS["degraded-width"](_RAILS)
    assert plan is not None
    assert netfile(plan.topology).count("1xNDR") == 2


def test_two_masters_leave_the_uplinks_plugged() -> None:
    plan = FAULTS["two-masters"](_RAILS)
    assert plan is not None
    lines = [order.get("line", "") for order in plan.before]
    pulled = [line for line in lines if line.startswith("Unlink")]
    back = [line for line in lines if line.startswith("ReLink")]
    assert [line.partition(" ")[2] for line in pulled] == [line.partition(" ")[2] for line in back]
    assert all('"S-leaf2-1"' in line for line in pulled)


def test_the_host_that_asks_is_never_struck() -> None:
    own = _RAILS.hca("node1", 0)
    for name, _topology, plan in plans():
        lines = [order.get("line", "") for order in plan.before]
        assert not any(f'"{own.id}"' in line for line in lines), name


def test_the_first_free_port_of_a_switch() -> None:
    assert parts.free(SMALL[0], "S-leaf1") == End("S-leaf1", 9)
