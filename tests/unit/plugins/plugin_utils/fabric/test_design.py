# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric that was found, held against its design: what is missing by its id, and nothing on a healthy one."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import design, judge, read
from tests.unit.fabrics import Fabric, Sizes, built, found, join, judged, rails, tree

SWITCHES = "fabric.design.switches"
SPREAD = "fabric.leaf.spread"
UPLINKS = "fabric.leaf.uplinks"

# Switches of 8 ports, 4 down and 4 up, in two tiers and in three; and the two tiers of a DGX SuperPOD of 127 H100.
TWO = {"leaves": 4, "spines": 2, "cores": 0, "uplinks": 4}
THREE = {"leaves": 10, "spines": 12, "cores": 8, "uplinks": 4, "spine_uplinks": 4}
FOUR_UNITS = {"leaves": 32, "spines": 16, "cores": 0, "uplinks": 32}
BUILT = {
    4: Sizes(units=2, unit_nodes=4, nodes=8, leaves=4, spines=2, pair_links=2),
    10: Sizes(units=5, unit_nodes=4, nodes=20, leaves=10, spines=12, pair_links=1, pods=3, cores=8, core_links=2),
    32: Sizes(units=4, unit_nodes=32, nodes=127, leaves=32, spines=16, pair_links=2),
}


def drawn(said: dict[str, Any]) -> Fabric:
    return built(BUILT[said["leaves"]])


def the(told: judge.Judged, check_id: str) -> list[dict[str, Any]]:
    return [check for fabric in told.fabrics for check in fabric["checks"] if check["id"] == check_id]


def one(told: judge.Judged, check_id: str) -> dict[str, Any]:
    (check,) = the(told, check_id)
    return check


def uplink(fabric: Fabric, leaf: str, spine: str) -> tuple[str, int]:
    """A port of the leaf that leads to the spine."""
    ports = [end for end, (far, _speed, _said) in fabric.cables.items() if end[0] == leaf and far[0] == spine]
    return sorted(ports)[0]


@pytest.mark.parametrize("said", [TWO, THREE], ids=["two tiers", "three tiers"])
def test_a_fabric_that_is_its_design_has_nothing_wrong(said: dict[str, Any]) -> None:
    reported = judged(drawn(said), design=said, oversubscription=1.0)
    assert found(reported) == found(reported, "unknown") == {}
    for check_id in (SWITCHES, SPREAD, UPLINKS, "fabric.leaf.subscription"):
        assert one(reported, check_id)["result"] == "pass", check_id
    assert one(reported, SWITCHES)["expected_from"] == "inventory"


def test_the_published_superpod_of_four_units_is_its_design() -> None:
    fabric = drawn(FOUR_UNITS)
    assert {name[1][:4] for name in fabric.nodes.values() if name[0] == "S"} == {"leaf", "spin"}
    reported = judged(fabric, design=FOUR_UNITS)
    assert found(reported) == found(reported, "unknown") == {}
    assert one(reported, SWITCHES)["observed"] == "32 leaves, 16 spines, 0 cores"


def test_without_a_design_its_switches_are_not_judged() -> None:
    assert one(judged(drawn(TWO)), SWITCHES)["result"] == "skip"
    assert one(judged(drawn(TWO)), SPREAD)["result"] == "pass"


def test_a_dead_spine_is_one_finding_and_not_one_of_every_leaf() -> None:
    fabric = drawn(TWO)
    fabric.remove("b0010")
    reported = judged(fabric, design=TWO, oversubscription=1.0)
    # That the leaves are oversubscribed then is said as well.
    assert set(found(reported)) == {SWITCHES, "fabric.leaf.subscription"}
    check = one(reported, SWITCHES)
    assert (check["observed"], check["expected"]) == ("4 leaves, 1 spines, 0 cores", "4 leaves, 2 spines, 0 cores")
    assert check["cause"] == "1 switches are off, cut off or not built"


def test_a_dead_spine_of_a_pod_is_told_with_the_leaves_of_that_pod() -> None:
    fabric = drawn(THREE)
    fabric.remove("b0010")
    reported = judged(fabric, design=THREE)
    assert set(found(reported)) == {SWITCHES, UPLINKS}
    assert found(reported)[UPLINKS] == ["leaf1", "leaf2", "leaf3", "leaf4"]


def test_a_design_may_say_some_of_its_numbers() -> None:
    fabric = drawn(TWO)
    assert found(judged(fabric, design={"leaves": 4, "spines": 2, "uplinks": 4})) == {}
    check = one(judged(fabric, design={"leaves": 5}), SWITCHES)
    assert (check["result"], check["observed"], check["expected"]) == ("fail", "4 leaves", "5 leaves")
    check = one(judged(fabric, design={"spines": 1, "uplinks": 4}), SWITCHES)
    assert (check["result"], check["cause"]) == ("fail", "more switches than the design has")


def test_a_leaf_of_storage_is_a_leaf_of_the_design() -> None:
    fabric = drawn(TWO)
    storage = fabric.switch("a0990", "storage-leaf")
    guid = fabric.hca("c0990000", "node99", "mlx5_0", 0)
    fabric.plug((guid, 1), (storage, 1))
    for spine in ("b0000", "b0010"):
        join(fabric, storage, spine, 2)
    assert found(judged(fabric, design=TWO))[SWITCHES] == ["fabric"]
    assert found(judged(fabric, design={**TWO, "leaves": 5})) == {}


def test_a_leaf_without_a_host_that_is_up_leaves_the_levels_unknown() -> None:
    fabric = drawn(TWO)
    for guid in [guid for guid, (kind, _name) in fabric.nodes.items() if kind == "H"]:
        if fabric.cables[guid, 1][0][0] == "a0030":
            fabric.pull((guid, 1))
    check = one(judged(fabric, design=TWO), SWITCHES)
    assert (check["result"], "leaf4" in check["cause"]) == ("unknown", True)
    assert "3 leaves, 2 spines, 1 cores, not 4 leaves, 2 spines, 0 cores" in check["cause"]
    # One switch is gone for sure, whatever the other is.
    fabric.remove("b0010")
    check = one(judged(fabric, design=TWO), SWITCHES)
    assert (check["result"], "the level cannot be told" in check["cause"]) == ("fail", True)


def test_a_missing_uplink_is_named_with_its_pair() -> None:
    fabric = drawn(FOUR_UNITS)
    fabric.pull(uplink(fabric, "a0040", "b0020"))
    reported = judged(fabric, design=FOUR_UNITS)
    assert found(reported)[UPLINKS] == ["leaf5"]
    assert SPREAD not in found(reported)
    (check,) = the(reported, UPLINKS)
    assert (check["observed"], check["expected"]) == ("31 uplinks", "32")
    assert "spine3 (1 of 2)" in check["cause"]


@pytest.mark.parametrize("with_all", [False, True])
def test_uplinks_that_many_leaves_lack_are_held_against_the_design(with_all: bool) -> None:
    fabric = drawn(TWO)
    leaves = ["a0000", "a0010", "a0020", "a0030"]
    for leaf in leaves if with_all else leaves[:2]:
        fabric.pull(uplink(fabric, leaf, "b0010"))
    checks = the(judged(fabric, design=TWO), UPLINKS)
    assert [check["subject"] for check in checks] == [f"leaf{at + 1}" for at in range(4 if with_all else 2)]
    source = "inventory" if with_all else "fleet 6/8"
    assert {(check["observed"], check["expected"], check["expected_from"]) for check in checks} == {
        ("3 uplinks", "4", source)
    }
    assert all("spine2 (1 of 2)" in check["cause"] for check in checks)
    if with_all:
        assert UPLINKS not in found(judged(fabric))


def test_a_spine_lacks_links_to_a_core() -> None:
    fabric = drawn(THREE)
    fabric.pull(uplink(fabric, "b0000", "d0000"))
    (check,) = the(judged(fabric, design=THREE), UPLINKS)
    assert (check["subject"], check["observed"], check["expected"]) == ("spine1", "3 uplinks", "4")
    assert "core1 (1 of 2)" in check["cause"]


def test_leaves_without_any_uplink_are_one_finding_where_the_design_has_them() -> None:
    fabric = rails(spines=0)
    assert UPLINKS not in found(judged(fabric))
    reported = judged(fabric, design={"leaves": 2, "spines": 2, "uplinks": 2})
    assert found(reported)[UPLINKS] == ["fabric"]


@pytest.mark.parametrize("with_design", [True, False])
def test_a_cable_on_another_spine_is_uneven_though_the_number_is_right(with_design: bool) -> None:
    fabric = drawn(TWO)
    fabric.pull(uplink(fabric, "a0010", "b0010"))
    fabric.down.clear()
    join(fabric, "a0010", "b0000")
    reported = judged(fabric, **({"design": TWO} if with_design else {}))
    assert found(reported) == {SPREAD: ["leaf2"]}
    check = one(reported, SPREAD)
    assert (check["observed"], check["expected"]) == ("1 of 2 links to spine2; 3 to spine1", "2 to each")
    assert check["expected_from"] == ("inventory" if with_design else "fleet 6/8")


def test_a_cable_that_leads_into_another_pod_is_uneven() -> None:
    fabric = drawn(THREE)
    fabric.pull(uplink(fabric, "a0000", "b0000"))
    fabric.down.clear()
    join(fabric, "a0000", "b0070")
    check = one(judged(fabric, design=THREE), SPREAD)
    assert (check["result"], check["subject"]) == ("fail", "leaf1")
    assert (check["observed"], check["expected"]) == ("0 of 1 links to spine1; 1 to spine8", "1 to each")


def test_a_spine_s_cable_on_another_core_is_uneven() -> None:
    fabric = drawn(THREE)
    fabric.pull(uplink(fabric, "b0000", "d0000"))
    fabric.down.clear()
    join(fabric, "b0000", "d00f0" if "d00f0" in fabric.nodes else sorted(fabric.nodes)[-1])
    assert found(judged(fabric, design=THREE))[SPREAD] == ["spine1"]


def test_links_that_cannot_part_evenly_are_no_fault() -> None:
    fabric = tree(leaves=4, spines=2, cables=2)
    for leaf in range(4):
        join(fabric, f"a{leaf}0", "b00")
    reported = judged(fabric)
    assert (found(reported), one(reported, SPREAD)["result"]) == ({}, "skip")


@pytest.mark.parametrize("spoilt", ["ibnetdiscover cut", "ibnetdiscover lost", "alone"])
def test_what_was_not_seen_whole_is_unknown(spoilt: str) -> None:
    fabric = drawn(TWO)
    answers = fabric.answers()
    if spoilt == "alone":
        fabric.cables, fabric.nodes = {}, {fabric.asks: fabric.nodes[fabric.asks]}
        answers = fabric.answers()
    elif spoilt == "ibnetdiscover lost":
        answers["ibnetdiscover"] = {"unavailable": "ibnetdiscover: gave no complete answer within 120 s"}
    else:
        text = answers["ibnetdiscover"]["stdout"].split("\n")
        answers["ibnetdiscover"]["stdout"] = "\n".join(text[: len(text) * 2 // 3])
    reported = judged(fabric, answers, design=TWO)
    assert one(reported, SWITCHES)["result"] == "unknown"
    assert {check["result"] for check in the(reported, SPREAD)} <= {"unknown"}
    assert reported.fabrics[0]["verdict"] != "ready"


def several(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Two fabrics, of two ports of one host: the check of each by the port that asked."""
    looks = []
    first, second = drawn(TWO), tree()
    for number, fabric in enumerate((first, second)):
        look = {"device": f"mlx5_{number}", "port": 1, "seconds": 5.0, "answers": fabric.answers()}
        looks.append(read.read("node1", look))
    wishes = judge.DesiredSettings(design=design.read(said))
    told = judge.judge(looks, first.inventory(), wishes)
    return {fabric["name"]: one(judge.Judged([fabric]), SWITCHES) for fabric in told.fabrics}


def test_of_several_fabrics_the_design_has_to_say_which() -> None:
    results = several(TWO)
    assert {check["result"] for check in results.values()} == {"unknown"}
    assert all("says whose design it is" in check["cause"] for check in results.values())
    named = several({**TWO, "fabric": "mlx5_0/1"})
    assert {name: check["result"] for name, check in named.items()} == {"mlx5_0/1": "pass", "mlx5_1/1": "skip"}
    other = several({**TWO, "fabric": "mlx5_7/1"})
    assert {check["result"] for check in other.values()} == {"unknown"}


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("superpod-h100", "is no dictionary"),
        ({"design": "superpod-h100", "nodes": 127}, "there is no design, nodes; known are leaves, spines"),
        ({"leaves": 4, "leafs": 3}, "there is no leafs"),
        ({"leaves": "many"}, "no whole number"),
        ({"leaves": True}, "no whole number"),
        ({"leaves": -1}, "no whole number"),
        ({"leaves": 4, "fabric": 7}, "is no port"),
        ({"fabric": "mlx5_0/1"}, "it takes some of leaves"),
        ({}, "it takes some of leaves"),
    ],
)
def test_a_design_that_cannot_be_used_is_refused(said: Any, says: str) -> None:
    with pytest.raises(design.DesignError, match=says):
        design.read(said)
