# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole fabrics judged: nothing on healthy ones, and what is missing by its id and its ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import PASS, SKIP
from tests.unit import fabrics
from tests.unit.fabrics import Fabric, found, judged, rails, tree

SHAPES: dict[str, Callable[[], Fabric]] = {
    "rails": rails,
    "tree": tree,
    "one switch": lambda: rails(width=1, spines=0),
    "two leaves": lambda: tree(leaves=2),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_healthy_fabric_has_nothing_wrong(shape: str) -> None:
    fabric = SHAPES[shape]()
    reported = judged(fabric, plan=fabric.discovery(), standbys=0, oversubscription=9.0)
    assert {one["result"] for one in reported.fabrics[0]["checks"]} <= {PASS, SKIP}
    assert reported.fabrics[0]["verdict"] == "ready"
    assert {one.result for checks in reported.hosts.values() for one in checks} == {PASS}
    assert sorted(reported.hosts) == sorted({hca.host for hca in fabric.rails})


def test_a_pulled_cable_is_a_missing_hca() -> None:
    fabric = rails()
    cabling = fabric.discovery()
    fabric.pull(("3c10", 1))
    reported = judged(fabric)
    assert found(reported) == {"fabric.hca.present": ["node3 mlx5_1/1"]}
    assert [(one.id, one.subject) for one in reported.hosts["node3"] if one.result == "fail"] == [
        ("fabric.hca.present", "mlx5_1/1")
    ]
    planned = judged(fabric, plan=cabling)
    assert found(planned)["fabric.cabling.missing"] == ["leaf2/3 - node3 mlx5_1/1"] or found(planned)[
        "fabric.cabling.missing"
    ] == ["node3 mlx5_1/1 - leaf2/3"]
    check = next(one for one in planned.hosts["node3"] if one.result == "fail")
    assert "by the plan it leads to leaf2/3" in check.cause


def test_a_host_that_is_off_is_one_finding() -> None:
    fabric = rails()
    fabric.remove("3c00")
    fabric.remove("3c10")
    reported = judged(fabric)
    assert found(reported) == {"fabric.hca.present": ["node3"]}
    assert [one.subject for one in reported.hosts["node3"] if one.id == "fabric.hca.present"] == ["host"]


@pytest.mark.parametrize(
    ("shape", "leaf", "hosts"),
    [("rails", "a10", "node1, node2, node3, node4"), ("tree", "a20", "node5, node6")],
)
def test_a_dead_leaf_is_one_cause(shape: str, leaf: str, hosts: str) -> None:
    fabric = SHAPES[shape]()
    behind = [end[0] for end, cable in fabric.cables.items() if cable[0][0] == leaf]
    fabric.remove(leaf)
    for guid in behind:
        if fabric.nodes[guid][0] == "H":
            del fabric.nodes[guid]
    reported = judged(fabric)
    assert found(reported)["fabric.leaf.present"] == [hosts]
    check = next(one for one in reported.hosts["node1" if shape == "rails" else "node5"])
    assert "their leaf is dead" in check.cause


def test_a_dead_spine_is_told_by_the_plan() -> None:
    fabric = tree()
    cabling = fabric.discovery()
    fabric.remove("b10")
    assert found(judged(fabric, plan=cabling)) == {"fabric.switch.present": ["spine2"]}


def test_a_dead_spine_is_told_by_ports_that_were_up_once() -> None:
    fabric = tree()
    fabric.remove("b10")
    for end in fabric.down:
        fabric.counters[end] = ({"LinkDownedCounter": 1}, {"LinkDownedCounter": 1})
    assert found(judged(fabric)) == {"fabric.spine.present": ["fabric"]}
    # Hosts that are off leave the same trace, so they must not be taken for a spine.
    fabric.remove("2c00")
    assert "fabric.spine.present" not in found(judged(fabric))


def test_a_lost_uplink_names_leaf_spine_and_port() -> None:
    fabric = tree()
    fabric.pull(("a10", 36))
    reported = judged(fabric)
    assert found(reported) == {"fabric.leaf.uplinks": ["leaf2"]}
    check = next(one for one in reported.fabrics[0]["checks"] if one["result"] == "fail")
    assert check["expected_from"] == "fleet 2/3"
    assert "spine2 (1 of 2)" in check["cause"]
    assert "port 36 is Down" in check["cause"]


def test_two_leaves_that_differ_are_held_against_what_most_pairs_have() -> None:
    fabric = tree(leaves=2)
    fabric.pull(("a10", 36))
    assert found(judged(fabric)) == {"fabric.leaf.uplinks": ["leaf2"]}


def test_the_rows_say_who_is_who_and_where() -> None:
    reported = judged(rails()).fabrics[0]
    row = next(one for one in reported["nodes"] if one["host"] == "node2" and one["rail"] == 2)
    assert row == {
        "guid": "0x0000000000002c10",
        "name": "node2 mlx5_1",
        "type": "ca",
        "host": "node2",
        "hca": "mlx5_1/1",
        "rail": 2,
        "level": "",
        "leaf": "0x0000000000000a10",
    }
    assert {one["level"] for one in reported["nodes"] if one["type"] == "switch"} == {"leaf", "spine"}
    assert {one["gbps"] for one in reported["links"]} == {400.0}
    assert len(reported["links"]) == 12
    assert fabrics.found(judged(rails())) == {}
