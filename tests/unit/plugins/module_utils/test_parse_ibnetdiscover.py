# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibnetdiscover
from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import CA, ROUTER, SWITCH, Link

# The layouts that infiniband-diags 56.1 prints; the values are made up.
HEAD = """\
#
# Topology file: generated on Mon Mar  2 09:10:11 2026
#
# Initiated from node 0200000000010000 port 0200000000010001
"""
LEAF = """
vendid=0x2c9
devid=0xd2f2
sysimgguid=0x200001
switchguid=0x200001(200001)
Switch\t65 "S-0000000000200001"\t\t# "MF0;leaf-1:MQM9700/U1" enhanced port 0 lid 70 lmc 0
[12]\t"H-0200000000010000"[1](200000000010001) \t\t# "gpu-a1 mlx5_3" lid 23 4xNDR
[13]\t"S-0000000000200002"[7]\t\t# "MF0;spine-1:MQM9700/U1" lid 71 2x???
"""
HCA = """
vendid=0x2c9
devid=0x1021
sysimgguid=0x200000000010000
caguid=0x200000000010000
Ca\t1 "H-0200000000010000"\t\t# "gpu-a1 mlx5_3"
[1](200000000010001) \t"S-0000000000200001"[12]\t\t# lid 23 lmc 0 "MF0;leaf-1:MQM9700/U1" lid 70 4xNDR
"""
TOPOLOGY = HEAD + LEAF + HCA
PORTS = """\
CA    23  1 0x0200000000010001 4x NDR - SW    70 12 0x0000000000200001 ( 'gpu-a1 mlx5_3' - 'leaf-1' )
SW    70 12 0x0000000000200001 4x NDR - CA    23  1 0x0200000000010001 ( 'leaf-1' - 'gpu-a1 mlx5_3' )
SW    70 13 0x0000000000200001 4x ???                                    'leaf-1'
SW    70 14 0x0000000000200001 4x SDR                                    leaf-1
"""
NODES = """\
Ca\t : 0x0200000000010000 ports 1 devid 0x1021 vendid 0x2c9 "gpu-a1 mlx5_3"
Switch\t : 0x0000000000200001 ports 65 devid 0xd2f2 vendid 0x2c9 "leaf-1"
"""
WARNING = "ibwarn: [7] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,3)\n"
NO_PORT = """\
./libibnetdisc/ibnetdisc.c:799; can't open MAD port ((null):0)
ibnetdiscover: iberror: failed: discover failed
"""


def test_a_topology_holds_nodes_and_links() -> None:
    parsed = ibnetdiscover.parse(TOPOLOGY)
    leaf, hca = parsed.nodes
    assert (leaf.type, leaf.guid, leaf.name, leaf.n_ports, leaf.lid, leaf.device_id) == (
        *(SWITCH, "200001", "MF0;leaf-1:MQM9700/U1"),
        *(65, 70, "d2f2"),
    )
    assert leaf.links[0] == Link(*(12, None, "4x", "NDR"), *(CA, "200000000010000", 1, 23, "gpu-a1 mlx5_3"))
    assert leaf.links[1].peer_type == SWITCH
    assert hca.links == (
        Link(*(1, 23, "4x", "NDR", SWITCH, "200001", 12, 70, "MF0;leaf-1:MQM9700/U1"), port_guid="200000000010001"),
    )
    assert parsed.initiated_from == hca.guid == hca.system


def test_a_router_is_a_router() -> None:
    text = HCA.replace("caguid", "rtguid").replace("Ca\t", "Rt\t")
    assert ibnetdiscover.parse(text).nodes[0].type == ROUTER


def test_a_list_of_ports() -> None:
    parsed = ibnetdiscover.parse(PORTS)
    hca, leaf = parsed.nodes
    assert (hca.type, hca.name, hca.lid, hca.links[0].peer) == (CA, "gpu-a1 mlx5_3", 23, "200001")
    assert leaf.links[0].peer_name == "gpu-a1 mlx5_3"
    assert leaf.dangling == ((13, "4x", "???"), (14, "4x", "SDR"))
    assert ibnetdiscover.facts(parsed).items() >= {
        ("format", "ports-list"),
        *(("lines", 4), ("ca_lines", 1), ("sw_lines", 3), ("unknown_speed_lines", 1)),
    }


def test_a_list_of_nodes() -> None:
    parsed = ibnetdiscover.parse(NODES)
    assert [(one.type, one.name, one.n_ports) for one in parsed.nodes] == [
        (CA, "gpu-a1 mlx5_3", 1),
        (SWITCH, "leaf-1", 65),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WARNING + TOPOLOGY, id="warning before it"),
        pytest.param(TOPOLOGY.replace("[13]", WARNING + "[13]"), id="warning in between"),
        pytest.param(TOPOLOGY.replace("\t\t#", "\n#"), id="wrapped"),
        pytest.param(TOPOLOGY.replace("4xNDR", "4xNDR s=4 w=2 v=8"), id="-f"),
        pytest.param(TOPOLOGY.replace("[13]\t", "[13][ext 5]\t").replace('"[7]', '"[7][ext 9]'), id="-g"),
        pytest.param(TOPOLOGY.replace("sysimgguid=0x200001\n", "sysimgguid=0x200001\t\t# Chassis 1\n"), id="chassis"),
    ],
)
def test_every_layout_gives_the_same_fabric(text: str) -> None:
    assert ibnetdiscover.parse(text).nodes == ibnetdiscover.parse(TOPOLOGY).nodes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "ibnetdiscover: empty output", id="empty"),
        pytest.param("no such thing", "line 1 'no such thing': no node", id="foreign text"),
        pytest.param(HEAD + LEAF[:90], "line 10 .*: not 'TYPE N", id="cut in a node"),
        pytest.param(TOPOLOGY + HCA, "this node was already listed", id="two runs"),
        pytest.param(LEAF + LEAF[-76:].replace("71", "72"), "listed otherwise", id="a port twice"),
        pytest.param(PORTS + TOPOLOGY, "a topology line in a ports-list text", id="two formats"),
        pytest.param(PORTS[:60], "cut within the other end", id="cut in a list"),
        pytest.param(PORTS[:25], "not 'TYPE LID PORT 0xGUID", id="cut in a list's port"),
        pytest.param(PORTS + PORTS.replace("NDR", "HDR"), "listed otherwise", id="two lists"),
        pytest.param(NODES[:40], "line 1 .*: not 'TYPE N", id="cut in a list of nodes"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ibnetdiscover.parse(text)


def test_a_discovery_that_failed_says_why() -> None:
    parsed = ibnetdiscover.parse(NO_PORT)
    assert (parsed.nodes, parsed.error_lines) == ((), tuple(NO_PORT.splitlines()))
    assert ibnetdiscover.facts(parsed)["error"] is True


def test_the_facts_count_both_ends_of_every_link() -> None:
    facts = ibnetdiscover.facts(ibnetdiscover.parse(TOPOLOGY))
    assert (facts["switches"], facts["cas"], facts["routers"]) == (1, 1, 0)
    assert facts["link_widths"] == {"4xNDR": 2, "2x???": 1}


def test_a_fabric_of_a_thousand_adapters_is_read() -> None:
    blocks = [
        HCA.replace("10000", f"{n:05x}").replace("10001", f"{n:05x}").replace("[12]", f"[{n % 65}]")
        for n in range(1000)
    ]
    text = "".join(blocks)
    assert len(text) > 200_000
    assert len(ibnetdiscover.parse(text).nodes) == 1000


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        pytest.param(TOPOLOGY[:-6], [2, 0], id="cut in a port"),
        pytest.param(TOPOLOGY.replace('Ca\t1 "H-0200000000010000"', "#"), [2], id="a node's line is missing"),
    ],
)
def test_a_line_that_cannot_be_read_leaves_the_others(text: str, nodes: list[int]) -> None:
    found = ibnetdiscover.parse(text)
    assert [len(node.links) for node in found.nodes] == nodes
    assert len(found.error_lines) == 1
    assert "cannot be read: [" in found.error_lines[0]
