# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics as data: the shapes, and the files that ibsim is given."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from sandbox.rig import parts, shapes
from sandbox.rig.topology import CA, SWITCH, Builder, Cable, Topology, members, netfile

_HEAD = re.compile(r'^(?:Switch|Hca)\t(\d+) "([^"]+)"')
_LINK = re.compile(r'^\[(\d+)\]\t"([^"]+)"\[(\d+)\]')

SHAPES = [*(shape() for shape in shapes.SMALL), shapes.large_fat_tree(), shapes.large_rails(64, 8)]
each_shape = pytest.mark.parametrize("topology", SHAPES, ids=lambda one: one.name)


def links(text: str) -> dict[tuple[str, int], tuple[str, int]]:
    found = {}
    current = ""
    for line in text.splitlines():
        if head := _HEAD.match(line):
            current = head[2]
        elif link := _LINK.match(line):
            assert (current, int(link[1])) not in found
            found[current, int(link[1])] = (link[2], int(link[3]))
    return found


@each_shape
def test_every_cable_is_written_from_both_ends(topology: Topology) -> None:
    table = links(netfile(topology))
    assert len(table) == 2 * len(topology.cables)
    for end, other in table.items():
        assert table[other] == end


@each_shape
def test_no_port_is_beyond_its_switch(topology: Topology) -> None:
    ports = {node.id: node.ports for node in topology.nodes}
    for cable in topology.cables:
        for end in (cable.a, cable.b):
            assert 1 <= end.port <= ports[end.node]


@each_shape
def test_everything_hangs_together(topology: Topology) -> None:
    beside: dict[str, set[str]] = {node.id: set() for node in topology.nodes}
    for cable in topology.cables:
        beside[cable.a.node].add(cable.b.node)
        beside[cable.b.node].add(cable.a.node)
    reached: set[str] = set()
    ahead = {topology.nodes[0].id}
    while ahead:
        reached |= ahead
        ahead = set().union(*(beside[one] for one in ahead)) - reached
    assert reached == set(beside)


@each_shape
def test_guids_are_nobody_s_real_ones_and_ports_have_room_between(topology: Topology) -> None:
    guids = sorted(node.guid for node in topology.nodes)
    assert all(guid >> 56 == 0x02 for guid in guids)
    assert all(later - sooner > 1 for sooner, later in itertools.pairwise(guids))


@each_shape
def test_every_leaf_goes_up_alike(topology: Topology) -> None:
    counts = Counter(len(parts.uplinks(topology, leaf.id)) for leaf in parts.leaves(topology))
    assert len(counts) == 1


def test_hca_i_of_every_host_is_on_a_leaf_of_rail_i() -> None:
    topology = shapes.rail_optimised()
    names = {node.id: node.name for node in topology.nodes}
    for node in topology.nodes:
        if node.host.startswith("node"):
            leaf = names[parts.end_of(topology, node).node]
            rail = int(node.device.removeprefix("mlx5_")) + 1
            assert re.fullmatch(rf"MF0;leaf\d+-{rail}:MQM9700/U1", leaf)


def test_the_largest_has_eight_rails_of_2048_hosts_and_no_switch_port_left() -> None:
    topology = shapes.large_rails(*shapes.SIZES[-1])
    hcas = [node for node in topology.nodes if node.host.startswith("node")]
    assert len(hcas) == 16384
    assert len({node.host for node in hcas}) == 2048
    used = Counter(end.node for cable in topology.cables for end in (cable.a, cable.b))
    cores = [node for node in topology.nodes if node.name.startswith("MF0;core")]
    assert len(cores) == 256
    assert {used[core.id] for core in cores} == {shapes.RADIX}
    # The subnet manager's host has the one port more.
    assert Counter(used[leaf.id] for leaf in parts.leaves(topology)) == {64: 511, 65: 1}


def test_the_five_sizes_grow_alike() -> None:
    sizes = [shapes.large_rails(*size) for size in shapes.SIZES[:3]]
    nodes = [len(one.nodes) for one in sizes]
    cables = [len(one.cables) for one in sizes]
    assert nodes[1] / nodes[0] == pytest.approx(2, rel=0.01)
    assert cables[2] / cables[1] == pytest.approx(2, rel=0.01)


def test_members_are_the_hosts_with_the_guids_of_the_file() -> None:
    topology = shapes.rail_optimised()
    reported = members(topology)
    assert list(reported["node1"]) == ["mlx5_0/1", "mlx5_1/1", "mlx5_2/1", "mlx5_3/1"]
    assert set(reported) == {*(f"node{number + 1}" for number in range(8)), "sm1", "sm2"}
    written = re.findall(r"^caguid=(0x[0-9a-f]+)$", netfile(topology), re.MULTILINE)
    for ports in reported.values():
        for port in ports.values():
            assert int(port["port_guid"], 16) == int(port["node_guid"], 16) + 1
            assert hex(int(port["node_guid"], 16)) in written


def test_names_are_as_real_tools_show_them() -> None:
    text = netfile(shapes.rail_optimised())
    assert '# "node1 mlx5_0"' in text
    assert '# "MF0;leaf1-1:MQM9700/U1"' in text
    assert '# "Mellanox Technologies Aggregation Node"' in text


def test_a_full_switch_takes_no_cable() -> None:
    build = Builder("full")
    leaf = build.switch("leaf1", 1)
    build.hca("node1", 0, leaf)
    with pytest.raises(ValueError, match="no port 2"):
        build.hca("node2", 0, leaf)


def test_a_name_is_given_once() -> None:
    build = Builder("twice")
    build.switch("leaf1", 1)
    with pytest.raises(ValueError, match="there already"):
        build.switch("leaf1", 1)


def test_a_topology_says_what_it_does_not_have() -> None:
    with pytest.raises(KeyError, match="node99"):
        shapes.single_switch().hca("node99", 0)


def test_a_cable_knows_its_other_end() -> None:
    topology = shapes.single_switch()
    (cable,) = topology.cables_of(topology.hca("node2", 0))
    assert isinstance(cable, Cable)
    assert cable.other("H-node2-0").node == "S-leaf1"
    assert cable.other("S-leaf1").node == "H-node2-0"
    assert {node.kind for node in topology.nodes} == {CA, SWITCH}
