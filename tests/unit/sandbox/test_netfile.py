# SPDX-License-Identifier: GPL-3.0-or-later
"""The topology that ibsim is given."""

from __future__ import annotations

import re

from sandbox.config import NODES, RAILS, SM_HOST, node_guid, sim_host
from sandbox.netfile import leaf_of, leaf_port, netfile

_HEAD = re.compile(r'^(?:Switch|Hca)\t(\d+) "([^"]+)"')
_LINK = re.compile(r'^\[(\d+)\]\t"([^"]+)"\[(\d+)\]')


def links() -> dict[tuple[str, int], tuple[str, int]]:
    found = {}
    current = ""
    for line in netfile().splitlines():
        if head := _HEAD.match(line):
            current = head[2]
        elif link := _LINK.match(line):
            found[current, int(link[1])] = (link[2], int(link[3]))
    return found


def test_every_link_is_written_from_both_ends_alike() -> None:
    table = links()
    assert table
    for end, other in table.items():
        assert table[other] == end


def test_each_rail_of_each_node_is_on_the_leaf_of_its_rail() -> None:
    table = links()
    for node in NODES:
        for rail in range(len(RAILS)):
            assert table[sim_host(node, rail), 1] == (leaf_of(rail), leaf_port(node))


def test_every_leaf_and_the_subnet_manager_hang_on_the_spine() -> None:
    peers = {other[0] for end, other in links().items() if end[0].startswith("S-spine")}
    assert peers == {SM_HOST, *(leaf_of(rail) for rail in range(len(RAILS)))}


def test_every_link_is_four_lanes_of_ndr() -> None:
    lines = [line for line in netfile().splitlines() if line.startswith("[")]
    assert all(line.endswith("4xNDR") for line in lines)


def test_every_hca_has_a_guid_of_its_own_that_is_nobody_s_real_one() -> None:
    guids = [int(one, 16) for one in re.findall(r"^caguid=0x([0-9a-f]+)$", netfile(), re.M)]
    assert len(guids) == len(NODES) * len(RAILS) + 1
    # ibsim numbers the port after the node, so neighbours must not touch.
    assert len({guid // 2 for guid in guids}) == len(guids)
    assert all(guid >> 56 == 0x02 for guid in guids)
    assert node_guid("node2", 1) in guids
