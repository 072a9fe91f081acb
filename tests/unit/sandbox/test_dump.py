# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading ibsim's Dump. The text is ibsim 0.12's own, shortened to three nodes."""

from __future__ import annotations

import pytest

from sandbox.fabric.dump import DumpError, Node, parse

DUMP = """\
# Net status - Fri Nov 20 10:19:02 2026

Switch 32 "S-leaf1"\tnodeguid 200000\tsysimgguid 200000
#\tlinearcap 30720 FDBtop 10 portchange 0
#\tForwarding table 0-15: [0]FF [1]20 [2]0 [3]1
200000\t[0]\t"Sma Port"[0]\t lid 2 lmc 0 smlid 1  4x  2.5G Active/LinkUp
200000\t[1]\t"H-node1-0"[1]\t  4x 100G Active/LinkUp
200000\t[2]\t\t\t  4x 100G Down/Polling

Ca 1 "H-node1-0"\tnodeguid 200000000010000\tsysimgguid 200000000010000
200000000010001\t[1]\t"S-leaf1"[1]\t lid 3 lmc 0 smlid 1  1x 100G Active/LinkUp

Ca 1 "H-node2-0"\tnodeguid 200000000020000\tsysimgguid 200000000020000
200000000020001\t[1]\t\t\t lid 0 lmc 0 smlid 0  4x  14G Down/Polling\t# err_rate 5
#  dumped 3 nodes
"""


@pytest.fixture
def nodes() -> dict[str, Node]:
    return parse(DUMP)


def test_a_trained_down_link_shows_its_lanes_its_speed_and_its_lids(nodes: dict[str, Node]) -> None:
    port = nodes["H-node1-0"].port(1)
    assert (port.width, port.lane_gbps, port.lid, port.sm_lid) == (1, 100.0, 3, 1)
    assert (port.state, port.physical, port.guid) == ("Active", "LinkUp", 0x0200000000010001)


def test_a_port_without_a_peer_is_read_with_a_comment_behind_it(nodes: dict[str, Node]) -> None:
    port = nodes["H-node2-0"].port(1)
    assert (port.state, port.physical, port.lid) == ("Down", "Polling", 0)


def test_a_switch_s_management_port_has_the_switch_s_lid(nodes: dict[str, Node]) -> None:
    assert nodes["S-leaf1"].port(0).lid == 2
    assert [port.num for port in nodes["S-leaf1"].ports] == [0, 1, 2]


def test_a_port_that_is_not_there_is_named() -> None:
    with pytest.raises(DumpError, match="H-node1-0 has no port 2"):
        parse(DUMP)["H-node1-0"].port(2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "end is missing", id="nothing at all"),
        pytest.param(DUMP[: DUMP.index("#  dumped")], "end is missing after 3", id="cut off"),
        pytest.param(DUMP.replace("dumped 3", "dumped 4"), "says 4 nodes", id="a node is lost"),
        pytest.param(DUMP.replace("4x 100G Down", "wide Down"), "not understood", id="no width"),
        pytest.param("1\t[1]\t\t\t 4x 100G Down/Polling\n", "before any", id="a port of nobody"),
    ],
)
def test_a_text_that_is_not_a_whole_dump_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DumpError, match=reason):
        parse(text)
