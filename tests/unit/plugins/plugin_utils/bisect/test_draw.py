# SPDX-License-Identifier: GPL-3.0-or-later
"""The net of a fabric: its ports, its cables, and the ways that tables give."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.draw import of_fabrics, of_hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.net import Way
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import CABLE, HOST, PORT, SWITCH, Parts
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    LEAF,
    SPINE,
    Cable,
    End,
    Fabric,
    Hca,
    Node,
)
from tests.unit.flow_model import fair


def fabric() -> Fabric:
    """Two leaves with two hosts each, and a spine with two cables to each leaf."""
    nodes = {"1": Node("1", "switch", "leaf1", LEAF), "2": Node("2", "switch", "leaf2", LEAF)}
    nodes["3"] = Node("3", "switch", "spine1", SPINE)
    cables = []
    hcas = {}
    for number in range(4):
        own, leaf = f"a{number}", "12"[number // 2]
        nodes[own] = Node(own, "ca", f"node{number} mlx5_0")
        hcas[End(own, 1)] = Hca(f"node{number}", "mlx5_0/1", own, f"b{number}", 0)
        cables.append(Cable(End(own, 1), End(leaf, number % 2 + 1), "4x", "HDR"))
    for leaf in (1, 2):
        for cable in (1, 2):
            cables.append(Cable(End(str(leaf), 10 + cable), End("3", 2 * leaf + cable), "4x", "NDR"))
    far = {**{cable.a: cable.b for cable in cables}, **{cable.b: cable.a for cable in cables}}
    return Fabric("fabric", "", nodes, tuple(cables), far, {}, {}, hcas)


LIDS = {f"b{number}": 20 + number for number in range(4)}
TABLES = {
    "1": {20: 1, 21: 2, 22: 11, 23: 12},
    "2": {20: 11, 21: 12, 22: 1, 23: 2},
    "3": {20: 3, 21: 4, 22: 5, 23: 6},
}


def test_ways_follow_the_tables() -> None:
    net = of_fabrics([fabric()], TABLES, LIDS)
    assert [port.named for port in net.ports] == [f"node{number} mlx5_0/1" for number in range(4)]
    assert [port.far for port in net.ports] == ["leaf1/1", "leaf1/2", "leaf2/1", "leaf2/2"]
    assert {port.gbps for port in net.ports} == {200.0}
    assert {cable.gbps for cable in net.cables} == {400.0}
    assert net.way(0, 1) == Way(())
    # Up the first cable of leaf1, down the first of leaf2.
    assert net.way(0, 2) == Way((8, 13))
    assert net.way(1, 3) == Way((10, 15))
    assert net.way(2, 0) == Way((12, 9))


def test_a_target_that_the_tables_do_not_know_has_no_way() -> None:
    net = of_fabrics([fabric()], {**TABLES, "3": {}}, LIDS)
    assert net.way(0, 2) is None
    assert net.way(0, 1) == Way(())


def test_tables_that_go_round_have_no_way() -> None:
    tables = {**TABLES, "3": {20: 5, 21: 5, 22: 3, 23: 3}}
    assert of_fabrics([fabric()], tables, LIDS).way(0, 2) is None


def test_without_tables_a_way_is_one_of_several() -> None:
    net = of_fabrics([fabric()])
    assert net.way(0, 1) == Way(())
    assert net.way(0, 2) == Way((), ((8, 10), (13, 15)))


def test_parts_say_what_flows_cannot_tell_apart() -> None:
    parts = Parts(of_fabrics([fabric()])).all
    assert [part.kind for part in parts] == [PORT] * 4 + [CABLE] * 4 + [SWITCH] * 3
    assert parts[0].made_of == (
        "the adapter and its PCIe slot",
        "the cable",
        "the end of the cable at leaf1/1",
        "the host node0",
    )


def test_hosts_alone() -> None:
    net = of_hosts({"a": {"mlx5_0/1": 200.0, "mlx5_1/1": 200.0}, "b": {"mlx5_0/1": 400.0}})
    assert [part.kind for part in Parts(net).all] == [PORT, PORT, PORT, HOST]
    assert net.way(0, 2) == Way(())


def test_two_fabrics_do_not_reach_each_other() -> None:
    net = of_fabrics([fabric(), fabric()])
    assert [port.net for port in net.ports].count(1) == 4
    assert len(net.switches) == 6


def test_flows_share_what_is_scarce() -> None:
    gbps = {1: 100.0, 2: 400.0, 3: 200.0}
    assert fair([(1, 2), (1, 3), (2, 3)], lambda link: gbps[link]) == [50.0, 50.0, 150.0]
    assert fair([(1,), (2,)], lambda link: gbps[link]) == [100.0, 400.0]


def test_switches_that_nobody_named_are_told_by_their_guid() -> None:
    named = fabric()
    nodes = {guid: replace(node, name="Quantum") if node.level else node for guid, node in named.nodes.items()}
    net = of_fabrics([replace(named, nodes=nodes)])
    names = [switch.name for switch in net.switches]
    assert len(set(names)) == len(names)
    assert all(name.startswith("Quantum (0x") for name in names)
    assert len({cable.name for cable in net.cables}) == len(net.cables)
    assert "Quantum (0x" in net.ports[0].far


def test_a_port_carries_what_its_host_tells_of_it() -> None:
    only = {(port.host, port.name): 200.0 for port in of_fabrics([fabric()]).ports[:2]}
    net = of_fabrics([fabric()], only=only)
    assert [port.gbps for port in net.ports] == [200.0, 200.0]
