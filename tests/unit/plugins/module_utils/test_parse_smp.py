# SPDX-License-Identifier: GPL-3.0-or-later
"""ibportstate and smpquery: ports with their peers, and every value of an answer."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibportstate, smpquery
from tests.unit.parsers import SAMPLES

# github.com/tuananh0788/Exadata/issues/2, an Exadata switch; the second link made slower in the tool's own words.
EXADATA = """\
[root@exasw-infb01 ~]# ibportstate 2 9
PortInfo:
# Port info: Lid 2 port 9
LinkState:.......................Active
PhysLinkState:...................LinkUp
LinkWidthSupported:..............1X or 4X
LinkWidthEnabled:................1X or 4X
LinkWidthActive:.................4X
LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedEnabled:................2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedActive:.................10.0 Gbps
Peer PortInfo:
# Port info: Lid 2 DR path slid 65535; dlid 65535; 0,9 port 2
LinkState:.......................Active
PhysLinkState:...................LinkUp
LinkWidthSupported:..............4X (IBA extension)
LinkWidthEnabled:................4X
LinkWidthActive:.................4X
LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedEnabled:................2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedActive:.................10.0 Gbps
[root@exasw-infb01 ~]# ibportstate 2 36
PortInfo:
# Port info: Lid 2 port 36
LinkState:.......................Down
PhysLinkState:...................Disabled
LinkWidthSupported:..............1X or 4X
LinkWidthEnabled:................1X or 4X
LinkWidthActive:.................4X
LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedEnabled:................2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedActive:.................2.5 Gbps
[root@exasw-infb01 ~]# ibportstate 2 37
PortInfo:
ibportstate: iberror: failed: smp query portinfo failed
"""
# The fields and their order: rdma-core, infiniband-diags/ibportstate.c and libibmad/dump.c.
EXTENDED = """\
Switch PortInfo:
# Port info: Lid 38 port 1
LinkState:.......................Active
PhysLinkState:...................LinkUp
Lid:.............................38
SMLid:...........................13
LMC:.............................0
LinkWidthSupported:..............1X or 4X or 2X
LinkWidthEnabled:................1X or 4X or 2X
LinkWidthActive:.................1X
LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedEnabled:................2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedActive:.................10.0 Gbps
LinkSpeedExtSupported:...........14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps
LinkSpeedExtEnabled:.............14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps
LinkSpeedExtActive:..............25.78125 Gbps
# MLNX ext Port info: Lid 38 port 1
StateChangeEnable:...............0x00
LinkSpeedSupported:..............0x01
LinkSpeedEnabled:................0x01
LinkSpeedActive:.................0x00
ibwarn: [169004] validate_width: Peer ports operating at active width 1 rather than 2 (4x)
Peer PortInfo:
# Port info: Lid 38 DR path slid 4; dlid 65535; 0,1 port 1
LinkState:.......................Active
PhysLinkState:...................LinkUp
LinkWidthSupported:..............1X or 4X
LinkWidthEnabled:................1X or 4X
LinkWidthActive:.................1X
LinkSpeedSupported:..............2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedEnabled:................2.5 Gbps or 5.0 Gbps or 10.0 Gbps
LinkSpeedActive:.................10.0 Gbps
LinkSpeedExtSupported:...........14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps
LinkSpeedExtEnabled:.............14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps
LinkSpeedExtActive:..............25.78125 Gbps
"""
# rdma-core 56 on an XDR port: the fastest kind of speed has lines of its own.
XDR = "LinkSpeedExtActive2:.............212.5 Gbps\nLinkSpeedExtSupported2:..........212.5 Gbps\n"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def test_every_port_of_a_switch_with_its_peer() -> None:
    told = ibportstate.facts(ibportstate.parse(EXADATA))
    assert [(port["which"], port["kind"], port["target"], port["port"]) for port in told["ports"]] == [
        ("port", "", "Lid 2", 9),
        ("peer", "", "Lid 2 DR path slid 65535; dlid 65535; 0,9", 2),
        ("port", "", "Lid 2", 36),
    ]
    here, there, down = told["ports"]
    assert here["width"] == {"supported": ["1X", "4X"], "enabled": ["1X", "4X"], "active": "4X"}
    assert there["width"] == {"supported": ["4X"], "enabled": ["4X"], "active": "4X"}
    assert here["speed_gbps"] == {"supported": [2.5, 5.0, 10.0], "enabled": [2.5, 5.0, 10.0], "active": 10.0}
    assert (down["state"], down["phys_state"], down["lid"]) == ("Down", "Disabled", None)
    assert told["error_lines"] == ["ibportstate: iberror: failed: smp query portinfo failed"]
    # The prompts are nobody's; the tool ended with its error, so nothing is missing.
    assert (told["unread"], told["cut"]) == (3, False)
    assert ibportstate.wrong(ibportstate.parse(EXADATA)) == ()


def test_what_the_link_does_less_than_both_ends_support() -> None:
    told = ibportstate.parse(EXTENDED)
    assert [port.link.speed_active for port in told.ports] == [25.78125, 25.78125]
    assert told.ports[0].link.width_supported == ("1X", "2X", "4X")
    assert told.ports[0].link.speed_supported == (2.5, 5.0, 10.0, 10.3125, 14.0625, 25.78125, 53.125)
    assert ibportstate.wrong(told) == (
        "Lid 38 port 1 runs at 1X where both ends support 4X",
        "Lid 38 port 1 runs at 25.78125 Gb/s a lane where both ends support 53.125 Gb/s a lane",
    )
    # What one end has not enabled is a setting, and the tool itself does not miss it.
    slow = EXTENDED.replace("Enabled:................1X or 4X or 2X", "Enabled:................1X")
    slow = slow.replace("ExtEnabled:.............14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps\n", "ExtEnabled:....0\n")
    assert ibportstate.wrong(ibportstate.parse(slow)) == ("Peer ports operating at active width 1 rather than 2 (4x)",)


def test_a_port_that_nobody_set_up_and_a_link_that_is_down() -> None:
    waiting = EXTENDED.split("Peer")[0].replace("Active\nPhys", "Initialize\nPhys").replace("ibwarn", "# ibwarn")
    assert ibportstate.wrong(ibportstate.parse(waiting)) == (
        "Lid 38 port 1 is Initialize with its link up: no subnet manager set it up",
    )
    down = EXTENDED.split("Peer")[0].replace("Active\nPhys", "Down\nPhys").replace("LinkUp", "Polling")
    assert ibportstate.wrong(ibportstate.parse(down.replace("ibwarn: ", "# "))) == ()


def test_before_and_after_a_change() -> None:
    port = sample("ibportstate").split("Peer")[0].split("\n", 1)[1]
    text = f"Initial CA/RT PortInfo:\n{port}\nAfter PortInfo set:\n{port}"
    assert [found.which for found in ibportstate.parse(text).ports] == ["initial", "after"]
    assert ibportstate.wrong(ibportstate.parse(text)) == ()


def test_the_real_output_of_a_simulated_fabric() -> None:
    # infiniband-diags 44.0 on ibsim 0.10.
    told = ibportstate.facts(ibportstate.parse(sample("ibportstate")))
    assert [(port["which"], port["kind"], port["port"]) for port in told["ports"]] == [
        ("port", "Switch", 4),
        ("peer", "", 3),
    ]
    assert (told["unread"], told["cut"], told["ports"][0]["width"]["enabled"]) == (0, False, ["4X"])
    assert ibportstate.wrong(ibportstate.parse(sample("ibportstate"))) == ()


@pytest.mark.parametrize("lines", range(3, 31))
def test_a_cut_output_gives_what_is_there(lines: int) -> None:
    told = ibportstate.parse("\n".join(sample("ibportstate").split("\n")[:lines]))
    assert len(told.ports) == (1 if lines < 19 else 2)
    # Behind the last line that every release prints, the text may be whole.
    assert told.cut == (lines < 13 or 16 < lines < 29)


def test_every_value_of_an_answer_and_the_known_ones_by_type() -> None:
    told = smpquery.facts(smpquery.parse(sample("smpquery")))
    port, node, switch = told["blocks"]
    assert (port["kind"], port["target"], port["port"], port["lid"], port["sm_lid"]) == ("Port info", "Lid 1", 1, 1, 1)
    assert (port["state"], port["phys_state"], port["mtu"], port["mtu_supported"]) == ("Active", "LinkUp", 2048, 2048)
    assert (port["width"]["active"], port["speed_gbps"]["active"]) == ("4X", 2.5)
    assert port["values"]["Mkey"] == "<not displayed>"
    assert port["values"]["OperVLs"] == "VL0-7"
    assert "IsSM" in port["capabilities"]
    assert (node["node_type"], node["guid"], node["ports"]) == ("Channel Adapter", "0x0000000000100000", 2)
    assert (switch["kind"], switch["values"]["LinearFdbCap"]) == ("Switch info", "30720")
    assert told["node_descriptions"] == ["Switch1"]
    assert (told["unread"], told["cut"]) == (0, False)


def test_posted_answers() -> None:
    # open-mpi's users' list, 2014: smpquery NodeInfo 4. github.com/fgci-org/fgci-ansible/issues/174: smpquery ND.
    node = (
        "bones> smpquery --Ca mlx4_0 --Port 1 NodeInfo 4\n# Node info: Lid 4\nBaseVers:........................1\n"
        "NodeType:........................Channel Adapter\nNumPorts:........................2\n"
        "Guid:............................0x0002c90300336fe0\nVendorId:........................0x0002c9\n"
    )
    told = smpquery.parse(node)
    assert (told.blocks[0].values["Guid"], told.unread, told.cut) == ("0x0002c90300336fe0", 1, False)
    assert smpquery.parse("Node Description:....MF0;ib-switch-mgmt:SX6036/U1\n").descriptions == (
        "MF0;ib-switch-mgmt:SX6036/U1",
    )


def test_the_speed_of_an_xdr_port() -> None:
    text = sample("smpquery").replace("# Node info", f"{XDR}# Node info", 1)
    assert smpquery.facts(smpquery.parse(text))["blocks"][0]["speed_gbps"]["active"] == 212.5
    unknown = sample("smpquery").replace("No Extended Speed", "undefined (16)")
    assert smpquery.facts(smpquery.parse(unknown))["blocks"][0]["speed_gbps"]["active"] is None


def test_a_port_that_waits_for_its_subnet_manager_and_a_cut_answer() -> None:
    waiting = sample("smpquery").replace("Active\nPhys", "Initialize\nPhys")
    assert smpquery.wrong(smpquery.parse(waiting)) == (
        "Lid 1 port 1 is Initialize with its link up: no subnet manager set it up",
    )
    assert smpquery.wrong(smpquery.parse(sample("smpquery"))) == ()
    cut = smpquery.parse(waiting.split("OverrunErr")[0])
    assert (cut.cut, cut.blocks[0].number("Lid")) == (True, 1)
    assert smpquery.parse(waiting.split("BaseVers")[0]).cut


def test_they_refuse_each_other_and_contradictions() -> None:
    for parse, text in ((ibportstate.parse, sample("smpquery")), (smpquery.parse, sample("ibportstate"))):
        with pytest.raises(ParseError):
            parse(text)
    with pytest.raises(ParseError, match="contradicts"):
        smpquery.parse(sample("smpquery").replace("LMC:", "Lid:..........................7\nLMC:"))
    with pytest.raises(ParseError) as failed:
        ibportstate.parse("ibportstate: iberror: failed: can't resolve destination port 77\n")
    assert failed.value.error_lines == ("ibportstate: iberror: failed: can't resolve destination port 77",)


OTHERS = sorted(path.stem for path in SAMPLES.glob("*.txt"))


@pytest.mark.parametrize("name", OTHERS)
def test_other_tools_texts_are_refused(name: str) -> None:
    for own, parse in (("ibportstate", ibportstate.parse), ("smpquery", smpquery.parse)):
        if name != own:
            with pytest.raises(ParseError):
                parse(sample(name))
