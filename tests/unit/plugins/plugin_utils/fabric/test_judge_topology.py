# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm's file held against the fabric: every fault by its id, and what the fabric itself gives passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.check_topology import (
    BLOCKS,
    LEAF,
    NODES,
    SWITCHES,
    TOPOLOGY_CHECKS,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import read as slurm
from tests.unit.fabrics import Fabric, rails, tree

Found = dict[str, list[dict[str, Any]]]

# What slurmibtopology and people write of tests.unit.fabrics.tree(): every spine above every leaf.
SOUND = """\
SwitchName=s1 Nodes=node[1-2]
SwitchName=s2 Nodes=node[3-4]
SwitchName=s3 Nodes=node[5-6]
SwitchName=top1 Switches=s[1-3]
SwitchName=top2 Switches=s[1-3]
"""
UUID = "8d3f4ff5-8f9a-4ec9-9b42-5f6f0a3a7a5e"


def judged(text: str | None, fabric: Fabric | None = None, answers: dict[str, Any] | None = None, **more: Any) -> Found:
    """The checks of the topology by id; ``more``: of the inventory, and ``called``."""
    fabric = fabric or tree()
    called = more.pop("called", {})
    parse = slurm.yml if text and text.startswith("-") else slurm.conf
    wishes = judge.DesiredSettings(topology=None if text is None else parse(text), called=called)
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": answers or fabric.answers()}
    told = judge.judge([read.read("node1", look)], replace(fabric.inventory(), **more), wishes)
    found: Found = {}
    for check in told.fabrics[0]["checks"]:
        if check["id"] in TOPOLOGY_CHECKS:
            found.setdefault(check["id"], []).append(check)
    return found


def results(found: Found) -> dict[str, set[str]]:
    return {check: {one["result"] for one in mine} for check, mine in found.items()}


def text(checks: list[dict[str, Any]], result: str = FAIL) -> str:
    return "\n".join(
        f"{one['subject']}: {one['observed']} | {one['expected']} | {one['cause']}"
        for one in checks
        if one["result"] == result
    )


GOOD = {NODES: {PASS}, LEAF: {PASS}, SWITCHES: {PASS}, BLOCKS: {SKIP}}


def test_a_file_that_agrees_passes() -> None:
    assert results(judged(SOUND)) == GOOD


def test_a_file_of_the_rails_as_one_switch_passes_and_so_does_one_for_each() -> None:
    assert results(judged("SwitchName=su1 Nodes=node[1-4]\n", rails())) == GOOD
    both = "SwitchName=l1 Nodes=node[1-4]\nSwitchName=l2 Nodes=node[1-4]\nSwitchName=t Switches=l[1-2]\n"
    assert results(judged(both, rails())) == GOOD


def test_without_a_file_nothing_is_judged() -> None:
    found = judged(None)
    assert results(found) == {check: {SKIP} for check in TOPOLOGY_CHECKS}
    assert "ibready_topology_file" in found[NODES][0]["cause"]


# What happened: what changes in SOUND, the id that must fail, and what it says.
FAULTS = {
    "a node is missing": ("Nodes=node[5-6]", "Nodes=node5", NODES, "node6: in no switch"),
    "a node is below another leaf": (
        "node[1-2]\nSwitchName=s2 Nodes=node[3-4]",
        "node1\nSwitchName=s2 Nodes=node[2-4]",
        LEAF,
        "node2: below s2 (line 2), with node[3-4] of leaf2 | below leaf1",
    ),
    "a spine joins fewer leaves": (
        "Switches=s[1-3]\nSwitchName=top2 Switches=s[1-3]",
        "Switches=s[1-2]",
        SWITCHES,
        "top1: top1 (line 4) above node[1-4] alone | what the fabric has: spine1_to_spine2 (spine1, spine2)",
    ),
    "no spine at all": (
        "SwitchName=top1 Switches=s[1-3]\nSwitchName=top2 Switches=s[1-3]\n",
        "",
        SWITCHES,
        "spine1_to_spine2: no switch above node[1-6] alone",
    ),
    "a leaf is divided": (
        "Nodes=node[5-6]",
        "Nodes=node5\nSwitchName=s4 Nodes=node6",
        SWITCHES,
        "s4: s4 (line 4) above node6 alone",
    ),
    "a switch that is not there": (
        "SwitchName=s1 ",
        "SwitchName=gone\nSwitchName=s1 ",
        SWITCHES,
        "gone: line 1, with no host below it | a switch of the fabric",
    ),
}


@pytest.mark.parametrize(("old", "new", "check", "says"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_by_its_id(old: str, new: str, check: str, says: str) -> None:
    assert old in SOUND
    found = judged(SOUND.replace(old, new))
    assert says in text(found[check])
    assert {one for one, mine in results(found).items() if FAIL in mine} == {check}


def test_two_nodes_that_changed_places_are_both_told_by_the_names_of_the_leaves() -> None:
    swapped = SOUND.replace("s1 Nodes=node[1-2]", "leaf1 Nodes=node1,node3").replace(
        "s2 Nodes=node[3-4]", "leaf2 Nodes=node2,node4"
    )
    found = judged(swapped.replace("s[1-3]", "leaf[1-2],s3"))
    assert "node3: below leaf1 (line 1), with node1 of leaf1 | below leaf2" in text(found[LEAF])
    assert "node2: below leaf2 (line 2), with node4 of leaf2 | below leaf1" in text(found[LEAF])
    assert results(found)[SWITCHES] == {PASS}


def test_nodes_of_no_inventory_are_named_and_not_judged() -> None:
    found = judged(SOUND + "SwitchName=cpus Nodes=cpu[1-4]\n")
    assert results(found) == GOOD
    assert "in no inventory: cpu[1-4]" in found[NODES][0]["observed"]


def test_a_host_goes_by_the_name_that_slurm_has_for_it() -> None:
    renamed = SOUND.replace("node[5-6]", "node5,gpu6")
    assert results(judged(renamed, called={"node6": "gpu6"})) == GOOD
    assert "node6: in no switch" in text(judged(renamed)[NODES])


def test_a_host_whose_place_is_not_known_is_unknown() -> None:
    found = judged(SOUND.replace("node[5-6]", "node[5-7]"), silent={"node7": "unreachable", "node8": "unreachable"})
    assert results(found)[LEAF] == {PASS, UNKNOWN}
    assert "node7" in text(found[LEAF], UNKNOWN)
    assert "node8" in text(found[NODES], UNKNOWN)


def test_a_host_without_rails_may_be_in_the_file_or_not() -> None:
    bare = {"node7": ""}
    assert results(judged(SOUND, cliques=bare)) == GOOD
    assert results(judged(SOUND.replace("node[5-6]", "node[5-7]"), cliques=bare)) == GOOD


@pytest.mark.parametrize("broken", ["gone", "cut"])
def test_a_fabric_that_was_not_read_passes_nothing(broken: str) -> None:
    fabric = tree()
    answers = fabric.answers()
    if broken == "gone":
        answers["ibnetdiscover"] = {"unavailable": "ibnetdiscover: timed out"}
    else:
        answers["ibnetdiscover"]["stdout"] = answers["ibnetdiscover"]["stdout"].rpartition("vendid")[0]
    for said in (SOUND, SOUND.replace("node[1-2]", "node1")):
        found = judged(said, fabric, answers)
        assert PASS not in {result for mine in results(found).values() for result in mine}
        assert results(found)[LEAF] == results(found)[SWITCHES] == {UNKNOWN}


BLOCK = "BlockName=b1 Nodes=node[1-3]\nBlockName=b2 Nodes=node[4-6]\nBlockSizes=3\n"
TWO = {**{f"node{n}": f"{UUID}.1" for n in (1, 2, 3)}, **{f"node{n}": f"{UUID}.2" for n in (4, 5, 6)}}


@pytest.mark.parametrize(
    ("said", "cliques", "result", "says"),
    [
        (BLOCK, TWO, PASS, "2 NVLink domains"),
        (BLOCK, TWO | {"node3": f"{UUID}.2"}, FAIL, f"node3: in b1 (line 1), of NVLink domain {UUID}.1"),
        (BLOCK, TWO | {"node3": ""}, FAIL, "node3: in b1 (line 1)"),
        (BLOCK.replace("[4-6]", "[4-5],x1"), TWO, FAIL, f"node6: in no block | that of NVLink domain {UUID}.2"),
        (BLOCK, dict.fromkeys(TWO, f"{UUID}.1"), FAIL, f"{UUID}.1: divided among b1, b2"),
        (BLOCK.replace("[4-6]", "[4-5]"), TWO | {"node6": ""}, FAIL, "b2: 2 nodes (line 2) | BlockSizes: at least 3"),
        (BLOCK, dict.fromkeys(TWO, ""), SKIP, "no host of these blocks is of an NVLink domain"),
        (BLOCK, TWO | {"node3": None}, UNKNOWN, "node3 did not tell"),
        (BLOCK, {}, UNKNOWN, "did not tell"),
    ],
)
def test_blocks_are_held_against_nvlink_domains(
    said: str, cliques: dict[str, str | None], result: str, says: str
) -> None:
    found = judged(said, cliques=cliques)
    assert results(found) == {NODES: {SKIP}, LEAF: {SKIP}, SWITCHES: {SKIP}, BLOCKS: {result}}
    assert says in text(found[BLOCKS], result)


def test_a_yaml_with_a_tree_and_blocks_is_judged_in_both() -> None:
    said = (
        "- topology: a\n  cluster_default: true\n  tree:\n    switches:\n    - switch: s1\n      nodes: node[1-2]\n"
        "    - switch: s2\n      nodes: node[3-4]\n    - switch: s3\n      nodes: node[5-6]\n"
        "    - switch: t\n      children: s[1-3]\n"
        "- topology: b\n  block:\n    block_sizes: [3]\n    blocks:\n    - block: b1\n      nodes: node[1-3]\n"
        "    - block: b2\n      nodes: node[4-6]\n"
    )
    assert results(judged(said, cliques=TWO)) == {**GOOD, BLOCKS: {PASS}}
