# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import iblinkinfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.iblinkinfo import Peer, Port

# The layout that infiniband-diags 56.1 prints; the values are made up.
HCA = """\
CA: gpu-a1 mlx5_3:
      0x0200000000010001     23    1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      70   12[  ] "MF0;leaf-1:MQM9700/U1" ( )
"""  # noqa: E501
LEAF = """\
Switch: 0x0000000000200001 MF0;leaf-1:MQM9700/U1:
          70   12[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>      23    1[  ] "gpu-a1 mlx5_3" ( )
          70   13[  ] ==( 1X      25.78125 Gbps Active/  LinkUp)==>      33    1[  ] "gpu-b2 mlx5_3" (Could be 4X Could be 106.25 Gbps)
          70   14[  ] ==(                Down/ Polling)==>             [  ] "" ( )
"""  # noqa: E501
TEXT = HCA + LEAF
LINE_MODE = (
    '0x0000000000200001 "                        leaf-1"     70   13[  ] ==( 1X      25.78125 Gbps '
    'Active/  LinkUp)==>  0x0200000000020001     33    1[  ] "gpu-b2 mlx5_3" (Could be 4X )\n'
)
FIRST = Port(
    node_type="CA",
    node="gpu-a1 mlx5_3",
    guid="0x0200000000010001",
    lid=23,
    port=1,
    width="4X",
    speed_gbps=106.25,
    state="Active",
    phys="LinkUp",
    remote='70   12[  ] "MF0;leaf-1:MQM9700/U1" ( )',
    peer=Peer(70, 12, "MF0;leaf-1:MQM9700/U1"),
)
WARNING = "ibwarn: [7] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1,3)\n"
# Recorded from infiniband-diags 56.1 without a device, on standard error, exit status 1.
NO_PORT = """\
ibwarn: [7] mad_rpc_open_port2: can't open UMAD port ((null):0)
Failed to open (null) port 0
"""


def test_a_port_of_an_adapter() -> None:
    assert iblinkinfo.parse(TEXT).ports[0] == FIRST


def test_ports_of_a_switch_carry_its_name_and_guid() -> None:
    slow = iblinkinfo.parse(TEXT).ports[2]
    assert (slow.node_type, slow.node, slow.guid) == ("Switch", "MF0;leaf-1:MQM9700/U1", "0x0000000000200001")
    assert (slow.could_be_width, slow.could_be_speed) == ("4X", "106.25 Gbps")


def test_a_port_that_is_down_has_neither_width_nor_peer() -> None:
    down = iblinkinfo.parse(TEXT).ports[3]
    assert (down.state, down.phys, down.width, down.speed_gbps, down.peer) == (
        *("Down", "Polling"),
        *(None, None, None),
    )


def test_one_line_a_link() -> None:
    (port,) = iblinkinfo.parse(LINE_MODE).ports
    assert (port.node, port.guid, port.lid, port.port) == ("leaf-1", "0x0000000000200001", 70, 13)
    assert port.peer == Peer(33, 1, "gpu-b2 mlx5_3", "0x0200000000020001")
    assert (port.could_be_width, port.could_be_speed) == ("4X", "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WARNING + TEXT, id="warning before it"),
        pytest.param(TEXT.replace("Switch: 0x", "Switch 0x"), id="old header"),
        pytest.param(TEXT.replace(")==>  ", f")==>\n{WARNING}"), id="wrapped at the arrow"),
        pytest.param(TEXT.replace("==(", "\n==("), id="wrapped before the link"),
        pytest.param(HCA + TEXT, id="a block twice"),
        pytest.param(TEXT.replace("==>", " (HOQ:14 VL_Stall:7)==>"), id="-p"),
    ],
)
def test_every_layout_gives_the_same_ports(text: str) -> None:
    got = [(one.lid, one.port, one.width, one.peer) for one in iblinkinfo.parse(text).ports]
    assert got == [(one.lid, one.port, one.width, one.peer) for one in iblinkinfo.parse(TEXT).ports]


@pytest.mark.parametrize(
    ("link", "width", "speed", "state"),
    [
        pytest.param(" 4X     10.0 Gbps (FDR10) Active/  LinkUp", "4X", 10.0, "Active", id="FDR10"),
        pytest.param(" 4X undefined (8) Active/  LinkUp", "4X", None, "Active", id="unknown speed"),
        pytest.param(" 2X   53.125 Gbps Initialize/  LinkUp", "2X", 53.125, "Initialize", id="init"),
        pytest.param("   Down/PortConfigurationTraining", None, None, "Down", id="training"),
    ],
)
def test_every_kind_of_link(link: str, width: str | None, speed: float | None, state: str) -> None:
    text = LEAF.replace(" 1X      25.78125 Gbps Active/  LinkUp", link)
    port = next(one for one in iblinkinfo.parse(text).ports if one.port == 13)
    assert (port.width, port.speed_gbps, port.state) == (width, speed, state)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "iblinkinfo: empty output", id="empty"),
        pytest.param("no such thing", "line 1 'no such thing': no port", id="foreign text"),
        pytest.param(TEXT.replace("Gbps Active", "Gbps"), "line 2 .*: not '.WIDTH SPEED", id="no state"),
        pytest.param(TEXT + LEAF.replace("14[", "12["), "already listed otherwise", id="two runs"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        iblinkinfo.parse(text)


def test_a_tool_that_could_not_ask_says_why() -> None:
    parsed = iblinkinfo.parse(NO_PORT)
    assert (parsed.ports, parsed.error_lines) == ((), tuple(NO_PORT.splitlines()))
    assert iblinkinfo.facts(parsed)["error"] is True


def test_the_facts_count_states_and_warnings() -> None:
    facts = iblinkinfo.facts(iblinkinfo.parse(TEXT))
    assert facts["n_ports"] == 4
    assert facts["state_counts"] == {"Active/LinkUp": 3, "Down/Polling": 1}
    assert facts["could_be_warnings"] == 1
    assert facts["ports"][0]["remote"] == FIRST.remote


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(TEXT[: TEXT.rindex("==>")], 6, id="cut before the arrow"),
        pytest.param(TEXT[:-9], 6, id="cut behind the arrow"),
        pytest.param(TEXT.replace("70   12[  ] ==", "70 x[  ] =="), 4, id="no port"),
    ],
)
def test_a_line_that_cannot_be_read_leaves_the_others(text: str, line: int) -> None:
    found, whole = iblinkinfo.parse(text), iblinkinfo.parse(TEXT)
    assert len(found.ports) == len(whole.ports) - 1
    assert set(found.ports) < set(whole.ports)
    assert [said.partition(":")[0] for said in found.error_lines] == [f"line {line} cannot be read"]
