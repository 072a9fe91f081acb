# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree as Slurm, Kubernetes and MPI read it; and that our own file agrees with its own fabric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import example, given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import check_topology, judge, read, tree as trees
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.topology import render
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import read as slurm
from tests.unit.fabrics import Fabric, rails, tree

UUID = "8d3f4ff5-8f9a-4ec9-9b42-5f6f0a3a7a5e"
RACKS: dict[str, str | None] = {
    **{f"node{n}": f"{UUID}.1" for n in (1, 2, 3)},
    "node4": f"{UUID}.2",
    "node5": f"{UUID}.2",
}


def seen(fabric: Fabric, **more: Any) -> tuple[trees.Tree, Inventory]:
    look = read.read("node1", {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": fabric.answers()})
    inventory = replace(fabric.inventory(), **more)
    found, _partial = judge.models([look], inventory)
    return trees.build(found, inventory), inventory


def rendered(fabric: Fabric, cliques: dict[str, str | None] | None = None, **more: Any) -> render.Rendered:
    found, _inventory = seen(fabric)
    names = {*found.path, *(cliques or {})}
    called = {name: render.Called(name, name, f"10.0.0.{name[4:]}", 8) for name in names} | more.pop("called", {})
    return render.render(found, cliques or {}, called, more.get("release", "1.0"), ["written by ibready for a test"])


def test_a_tree_as_topology_conf() -> None:
    assert rendered(rails()).files["topology.conf"] == (
        "# written by ibready for a test\n"
        "# leaf1_to_leaf2 stands for leaf1, leaf2\n"
        "SwitchName=leaf1_to_leaf2 Nodes=node[1-4]\n"
        "# spine1_to_spine2 stands for spine1, spine2\n"
        "SwitchName=spine1_to_spine2 Switches=leaf1_to_leaf2\n"
    )


@pytest.mark.parametrize("fabric", [tree(), rails(), tree(leaves=1, spines=0), tree(leaves=9, each=1)])
@pytest.mark.parametrize("cliques", [{}, RACKS])
def test_our_own_files_agree_with_their_fabric(fabric: Fabric, cliques: dict[str, str | None]) -> None:
    found, inventory = seen(
        fabric, cliques={name: clique for name, clique in cliques.items() if name in {*seen(fabric)[0].path}}
    )
    made = rendered(fabric, dict(inventory.cliques))
    said = [*slurm.conf(made.files["topology.conf"])]
    if inventory.cliques:
        said += slurm.conf(made.files["topology-block.conf"])
    for topologies in (said, slurm.yml(made.files["topology.yaml"])):
        checks = check_topology.judge(topologies, "", found, inventory, "", {})
        wanted = {"pass"} if inventory.cliques else {"pass", "skip"}
        assert {check.result for check in checks} == wanted, checks
    assert len(slurm.yml(made.files["topology.yaml"])) == (2 if inventory.cliques else 1)


def test_blocks_are_nvlink_domains_planned_by_the_smallest() -> None:
    made = rendered(tree(), RACKS)
    (found,) = slurm.conf(made.files["topology-block.conf"])
    assert [(one.name, one.nodes) for one in found.blocks] == [
        ("block1", ("node1", "node2", "node3")),
        ("block2", ("node4", "node5")),
    ]
    assert found.sizes == (2, 4)
    assert f"# block1 is the NVLink domain {UUID}.1" in made.files["topology-block.conf"]
    assert "In no block, for no NVLink domain is known of it: node6" in made.files["topology-block.conf"]
    assert made.blocks == {f"{UUID}.1": ["node1", "node2", "node3"], f"{UUID}.2": ["node4", "node5"]}


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
@example([f"{UUID}.1\nBlockName=evil Nodes=node1", "\u2028SwitchName=evil"])
def test_no_domain_that_a_host_tells_becomes_a_line_of_its_own(domains: list[str]) -> None:
    made = rendered(tree(), {"node1": domains[0], "node2": domains[1]})
    (conf,) = slurm.conf(made.files["topology-block.conf"])
    both = [conf, slurm.yml(made.files["topology.yaml"])[1]]
    for found in both:
        assert [(one.name, one.nodes) for one in found.blocks] == [("block1", ("node1",)), ("block2", ("node2",))]


def test_without_nvlink_domains_there_are_no_blocks() -> None:
    made = rendered(tree(), dict.fromkeys(RACKS, ""))
    assert sorted(made.files) == ["hostfile", "node-labels.yaml", "topology.conf", "topology.yaml"]
    assert "block" not in made.files["topology.yaml"]


@pytest.mark.parametrize(
    ("release", "keys"),
    [
        ("1.0", ["accelerator.topograph.run/domain", "fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"]),
        ("0.5", [f"network.topology.nvidia.com/{word}" for word in ("accelerator", "leaf", "spine")]),
    ],
)
def test_labels_are_those_of_topograph(release: str, keys: list[str]) -> None:
    documents = list(yaml.safe_load_all(rendered(tree(), RACKS, release=release).files["node-labels.yaml"]))
    assert [one["metadata"]["name"] for one in documents] == [f"node{n}" for n in range(1, 7)]
    first = documents[0]
    assert {**first, "metadata": {}} == {"apiVersion": "v1", "kind": "Node", "metadata": {}}
    assert dict(sorted(first["metadata"]["labels"].items())) == dict(
        zip(keys, [f"{UUID}.1", "leaf1", "spine1_to_spine2"], strict=True)
    )
    assert keys[0] not in documents[5]["metadata"]["labels"]


def test_the_hostfile_has_neighbours_beside_each_other() -> None:
    fabric = tree(leaves=2, each=2)
    fabric.rails.reverse()
    assert rendered(fabric).files["hostfile"].splitlines()[1:] == [
        "# leaf1",
        "10.0.0.1 slots=8",
        "10.0.0.2 slots=8",
        "# leaf2",
        "10.0.0.3 slots=8",
        "10.0.0.4 slots=8",
    ]


@pytest.mark.parametrize(
    ("called", "says"),
    [
        (
            render.Called("node 1", "node1", "10.0.0.1"),
            "node1: 'node 1' is no name of a node in Slurm.*ibready_slurm_node",
        ),
        (render.Called("node1", "Node_1", "10.0.0.1"), "node1: the name of its node"),
        (render.Called("node1", "node1", "10.0.0.1\nrm"), "node1: .* is no address"),
    ],
)
def test_names_that_others_cannot_read_are_refused(called: render.Called, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        rendered(tree(), called={"node1": called})


def test_a_host_of_a_block_alone_needs_a_name_as_well() -> None:
    off = {"node99": render.Called("node99 Nodes=other", "node99", "10.0.0.99")}
    with pytest.raises(render.TopologyError, match=r"node99: .* is no name of a node in Slurm"):
        rendered(tree(), {"node99": UUID}, called=off)


def test_a_fabric_without_hosts_is_refused() -> None:
    with pytest.raises(render.TopologyError, match="no host was seen on a switch"):
        render.render(trees.Tree(), {}, {}, "1.0", [])
