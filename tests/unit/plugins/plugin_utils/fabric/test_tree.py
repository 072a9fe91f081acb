# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics of many shapes as one tree of switches above hosts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read, tree as trees
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.tree import Part, Tree
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm.hostlist import fold
from tests.unit.fabrics import Fabric, rails, tree


def grown(*fabrics: Fabric, inventory: Inventory | None = None) -> Tree:
    looks = []
    for number, fabric in enumerate(fabrics):
        look = {"device": f"mlx5_{number}", "port": 1, "seconds": 5.0, "answers": fabric.answers()}
        looks.append(read.read("node1", look))
    whole = Inventory(tuple(hca for fabric in fabrics for hca in fabric.rails))
    found, partial = judge.models(looks, inventory or whole)
    assert partial == ""
    return trees.build(found, inventory or whole)


def shown(found: Tree) -> list[str]:
    """``NAME: what is below it``, each below those it holds."""
    return [
        f"{part.name}: {fold(part.hosts) or ' '.join(sorted(one.name for one in part.parts))}" for part in found.parts
    ]


def pods(groups: int = 2, per: int = 2, width: int = 2) -> Fabric:
    """Three tiers: rails on leaves of their group, a spine a rail in each group, cores above all."""
    fabric = Fabric()
    cores = [fabric.switch(f"c{at}0", f"core{at + 1}") for at in range(2)]
    for group in range(groups):
        leaves = [fabric.switch(f"a{group}{rail}0", f"leaf{group + 1}-{rail + 1}") for rail in range(width)]
        tops = [fabric.switch(f"b{group}{rail}0", f"spine{group + 1}-{rail + 1}") for rail in range(width)]
        for at in range(per):
            host = group * per + at + 1
            for rail, leaf in enumerate(leaves):
                hca = fabric.hca(f"{host}d{rail}0", f"node{host}", f"mlx5_{rail}", rail)
                fabric.plug((hca, 1), (leaf, at + 1))
        for rail, (leaf, top) in enumerate(zip(leaves, tops, strict=True)):
            fabric.plug((leaf, 33), (top, 1))
            for at, core in enumerate(cores):
                fabric.plug((top, 40 + at), (core, group * width + rail + 1))
    fabric.asks = "1d00"
    return fabric


def test_hosts_of_one_leaf_are_below_it_and_spines_above_the_same_leaves_are_one() -> None:
    assert shown(grown(tree())) == [
        "leaf1: node[1-2]",
        "leaf2: node[3-4]",
        "leaf3: node[5-6]",
        "spine1_to_spine2: leaf1 leaf2 leaf3",
    ]


def test_the_leaves_of_the_rails_are_one_switch() -> None:
    found = grown(rails())
    assert shown(found) == ["leaf1_to_leaf2: node[1-4]", "spine1_to_spine2: leaf1_to_leaf2"]
    assert found.real(found.parts[0]) == ["leaf1", "leaf2"]


def test_three_tiers_are_three() -> None:
    assert shown(grown(pods())) == [
        "leaf1-1_to_leaf1-2: node[1-2]",
        "leaf2-1_to_leaf2-2: node[3-4]",
        "spine1-1_to_spine1-2: leaf1-1_to_leaf1-2",
        "spine2-1_to_spine2-2: leaf2-1_to_leaf2-2",
        "core1_to_core2: spine1-1_to_spine1-2 spine2-1_to_spine2-2",
    ]


def test_a_missing_cable_makes_no_switch_of_its_own() -> None:
    fabric = pods()
    fabric.pull(("3d10", 1))
    assert shown(grown(fabric)) == shown(grown(pods()))


def test_a_spine_that_only_cores_reach_is_above_nothing() -> None:
    fabric = pods()
    fabric.pull(("a000", 33))
    assert shown(grown(fabric))[2:] == [
        "spine1-2: leaf1-1_to_leaf1-2",
        "spine2-1_to_spine2-2: leaf2-1_to_leaf2-2",
        "core1_to_core2: spine1-2 spine2-1_to_spine2-2",
    ]


def test_a_host_stands_where_most_of_its_cables_lead_and_that_is_said() -> None:
    fabric = pods(per=3, width=3)
    fabric.pull(("1d20", 1))
    fabric.plug(("1d20", 1), ("a120", 9))
    found = grown(fabric)
    assert found.path["node1"][0].name == found.path["node2"][0].name
    assert found.notes == ("node1 is on leaf2-3 too, and stands where most of its HCAs are",)


def test_a_host_that_is_half_here_and_half_there_has_a_place_of_its_own() -> None:
    fabric = pods(per=3)
    fabric.pull(("1d10", 1))
    fabric.plug(("1d10", 1), ("a110", 9))
    found = grown(fabric)
    assert found.path["node1"][0].hosts == ("node1",)
    assert found.path["node1"][-1] is found.path["node2"][-1]


def test_a_host_on_a_spine_is_below_a_switch_beside_the_leaves() -> None:
    fabric = tree(each=5)
    guest = fabric.hca("9c00", "guest", "mlx5_0", 0)
    fabric.plug((guest, 1), ("b00", 60))
    assert "spine1_hosts: guest" in shown(grown(fabric))
    assert shown(grown(fabric))[-1] == "spine1_to_spine2: leaf1 leaf2 leaf3 spine1_hosts"


def test_leaves_without_a_spine_that_reach_each_other_are_joined() -> None:
    fabric = tree(leaves=2, spines=0)
    fabric.plug(("a00", 60), ("a10", 60))
    found = grown(fabric)
    assert shown(found) == ["leaf1: node[1-2]", "leaf2: node[3-4]", "fabric: leaf1 leaf2"]
    assert not found.apart


def test_hosts_that_do_not_reach_each_other_have_no_switch_in_common() -> None:
    one, two = tree(leaves=1), Fabric()
    other = two.switch("e00", "far1")
    two.plug((two.hca("ec00", "node7", "mlx5_1", 0), 1), (other, 1))
    two.plug((two.hca("ed00", "node8", "mlx5_1", 0), 1), (other, 2))
    two.asks = "ec00"
    found = grown(one, two)
    assert found.apart
    assert {path[-1].name for path in found.path.values()} == {"spine1_to_spine2", "far1"}


def test_rails_that_are_fabrics_of_their_own_are_one_tree() -> None:
    both = []
    for rail in range(2):
        fabric = Fabric()
        leaf = fabric.switch(f"a{rail}0", "leaf1")
        for host in range(3):
            fabric.plug(
                (fabric.hca(f"{host + 1}c{rail}0", f"node{host + 1}", f"mlx5_{rail}", rail), 1), (leaf, host + 1)
            )
        fabric.asks = f"1c{rail}0"
        both.append(fabric)
    # Two switches of one name are told apart by their GUIDs.
    assert shown(grown(*both)) == ["leaf1-a00_to_leaf1-a10: node[1-3]"]


@pytest.mark.parametrize(
    ("named", "called"),
    [
        ("MF0;ibsw7:MQM9700/U1", "ibsw7"),
        ("leaf 1 (row A)", "leaf-1-row-A"),
        ("Quantum,[x]=#\n", "Quantum-x"),
        ("", "0x0000000000000a00"),
        ("x" * 80, f"{'x' * 51}-d929"),
    ],
)
def test_a_switch_is_called_by_its_description_made_safe(named: str, called: str) -> None:
    fabric = tree(leaves=1, spines=0)
    fabric.nodes["a00"] = ("S", named.strip())
    name = grown(fabric).parts[0].name
    assert name.startswith(called)
    assert len(name) <= 60


def test_two_modules_of_one_managed_switch_keep_their_whole_descriptions() -> None:
    fabric = tree(leaves=2, spines=0)
    fabric.nodes["a00"], fabric.nodes["a10"] = ("S", "MF0;big:CS7520/L01/U1"), ("S", "MF0;big:CS7520/L02/U1")
    assert [part.name for part in grown(fabric).parts] == ["MF0-big-CS7520-L01-U1", "MF0-big-CS7520-L02-U1"]


def test_who_has_no_place_is_named_with_the_reason() -> None:
    fabric = tree()
    fabric.pull(("2c00", 1))
    known = Inventory(
        tuple(fabric.rails), silent={"node9": "unreachable"}, cliques={f"node{n}": "" for n in (1, 2, 3, 4, 5, 6, 8)}
    )
    found = grown(fabric, inventory=known)
    assert found.off == {
        "node2": "none of its 1 InfiniBand rails is on a switch",
        "node8": "it has no InfiniBand rail",
        "node9": "unreachable",
    }
    assert found.bare == {"node8"}


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_every_host_has_one_place_or_a_reason_whatever_is_unplugged(data: st.DataObject) -> None:
    fabric = data.draw(st.sampled_from([rails, tree, pods]))()
    for _ in range(data.draw(st.integers(0, 6))):
        ends = [end for end in sorted(fabric.cables) if fabric.nodes[end[0]][0] == "S" and len(fabric.cables) > 4]
        if ends:
            fabric.pull(data.draw(st.sampled_from(ends)))
    if not any(end[0] == fabric.asks for end in fabric.cables):
        return
    found = grown(fabric)
    hosts = {hca.host for hca in fabric.rails}
    assert {*found.path} | {*found.off} == hosts
    assert not {*found.path} & {*found.off}
    assert sorted(host for part in found.parts for host in part.hosts) == sorted(found.path)
    names = [part.name for part in found.parts]
    assert len({*names}) == len(names)
    below = [child for part in found.parts for child in part.parts]
    assert len({*below}) == len(below)
    for number, part in enumerate(found.parts):
        assert not (part.hosts and part.parts)
        assert {*part.parts} <= {*found.parts[:number]}
    assert {path[0] for path in found.path.values()} == {part for part in found.parts if part.hosts}
    assert all(_above(found, path) for path in found.path.values())


def _above(found: Tree, path: tuple[Part, ...]) -> bool:
    return all(path[at] in path[at + 1].parts for at in range(len(path) - 1)) and not any(
        path[-1] in part.parts for part in found.parts
    )
