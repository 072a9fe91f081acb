# SPDX-License-Identifier: GPL-3.0-or-later
"""ibdiagnet's screen and log, of ibutils2 and of ibutils 1.5."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibdiagnet
from tests.unit.parsers import SAMPLES

# pastebin.com/cY8nDJyD, October 2014, its beginning.
EARLY = """\
Running: ibdiagnet
----------
Load Plugins from:
/usr/share/ibdiagnet2.1.1/plugins/
(You can specify more paths to be looked in with "IBDIAGNET_PLUGINS_PATH" env variable)

Plugin Name                                   Result     Comment
libibdiagnet_cable_diag_plugin                Succeeded  Plugin loaded
libibdiagnet_cable_diag_plugin-2.1.1          Failed     Plugin options issue - Option "get_cable_info" from \
requester "Cable Diagnostic (Plugin)" already exists in requester "Cable Diagnostic (Plugin)"

---------------------------------------------
Discovery
-I- Fabric Discover finished successfully

-I- Discovering ... 4 nodes (1 Switches & 3 CA-s) discovered.
-I- Discovery finished successfully

-I- Duplicated GUIDs detection finished successfully

---------------------------------------------
Lids Check
-I- Lids Check finished successfully
"""
# docs.nvidia.com, IBUtils2 Utility Documentation, Useful Options.
FIRMWARE = """\
Nodes Information
-I- Devid: 4099(0x1003), PSID: MT_1090120019, Latest FW Version:2.42.5000
-I- Devid: 4115(0x1013), PSID: MT_2190110032, Latest FW Version:12.100.5600
-E- FW Check finished with errors
-W- r-ufm118/U1 - Node with Devid:4115(0x1013),PSID:MT_2190110032 has FW version 12.27.6008 while the latest FW \
version for the same Devid/PSID on this fabric is 12.100.5600
-W- r-ufm112/U2 - Node with Devid:4115(0x1013),PSID:MT_2190110032 has FW version 12.26.4012 while the latest FW \
version for the same Devid/PSID on this fabric is 12.100.5600
"""
# A guide to UFM on GitHub that shows ibdiagnet --routing, its end.
SUMMARY = """\
---------------------------------------------
Fabric Summary

Total Nodes             : 15
IB Switches             : 3
IB Channel Adapters     : 9
IB Aggregation Nodes    : 3
IB Routers              : 0

Adaptive Routing is enabled on 3 switches

---------------------------------------------
Summary
-I- Stage                     Warnings   Errors     Comment
-I- Discovery                 3          0
-I- Virtualization            0          0
-I- Routing                   0          0
"""
# wiki.archlinux.org, InfiniBand, shortened.
FIRST = """\
Loading IBDIAGNET from: /usr/lib/ibdiagnet1.5.7
-W- Topology file is not specified.
    Reports regarding cluster links will use direct routes.
Loading IBDM from: /usr/lib/ibdm1.5.7
-I- Using port 1 as the local port.
-I- Discovering ... 2 nodes (0 Switches & 2 CA-s) discovered.

-I---------------------------------------------------
-I- Bad Guids/LIDs Info
-I---------------------------------------------------
-I- No bad Guids were found

-I---------------------------------------------------
-I- Links With links speed != 5 (as set by -ls option)
-I---------------------------------------------------
-I- No unmatched Links (with speed != 5) were found

-I---------------------------------------------------
-I- IPoIB Subnets Check
-I---------------------------------------------------
-I- Subnet: IPv4 PKey:0x7fff QKey:0x00000b1b MTU:2048Byte rate:10Gbps SL:0x00
-W- Suboptimal rate for group. Lowest member rate:20Gbps > group-rate:10Gbps

-I---------------------------------------------------
-I- Bad Links Info
-I- No bad link were found
-I---------------------------------------------------
----------------------------------------------------------------
-I- Stages Status Report:
    STAGE                                    Errors Warnings
    Bad GUIDs/LIDs Check                     0      0
    Specific Link Speed Check                2      5
    IPoIB Subnets Check                      0      1

Please see /tmp/ibdiagnet.log for complete log
----------------------------------------------------------------

-I- Done. Run time was 0 seconds.
"""


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def test_the_whole_log() -> None:
    told = ibdiagnet.facts(ibdiagnet.parse(sample("ibdiagnet")))
    assert (told["release"], told["version"]) == (2, "2.13.0.MLNX20230614.1a2b3c4")
    assert told["command"] == "ibdiagnet --pc --pm_pause_time 60"
    assert (told["nodes"], told["switches"], told["cas"]) == (15, 3, 12)
    assert (told["counts"]["IB Aggregation Nodes"], told["counts"]["Links at 4x100"]) == (3, 24)
    assert [(manager["state"], manager["lid"], manager["node"]) for manager in told["sms"]] == [
        ("master", 1, "ufm-1 mlx5_2")
    ]
    assert (told["errors"], told["warnings"], told["unread"], told["cut"]) == (32, 1, 0, False)
    assert told["links"][0]["from"] == "S0002c90300688830/N0002c90300688830/P20"
    assert told["links"][0]["to"] == "S0002c90300165e63/N0002c90300165e60/P1"
    assert told["counters"][1] == {
        "port": "Sfc6a1c0300b00580/Nfc6a1c0300b00580/P1/5/1",
        "counter": "symbol_error_counter",
        "rose_by": 27,
        "allowed": 1,
    }
    assert told["firmware"][0]["latest"] == "28.43.2026"
    assert told["duplicated_guids"] == [{"guid": "node 0xa088c20300e56c36", "at": ["DR=0,1,3", "DR=0,1,7"]}]


def test_what_the_tool_calls_an_error_worst_first() -> None:
    first, *_more, last = ibdiagnet.wrong(ibdiagnet.parse(sample("ibdiagnet")))
    assert first == "Discovery: Node GUID = 0xa088c20300e56c36 is duplicated at: DR=0,1,3 DR=0,1,7"
    # The screen shows five lines of a check, its summary counts all.
    assert last == "Port Counters: 30 errors in all"
    assert len(_more) == 3
    # Warnings are none, and neither is a check whose findings all are warnings.
    for text in (EARLY, FIRMWARE, SUMMARY):
        assert ibdiagnet.wrong(ibdiagnet.parse(text)) == ()
    assert ibdiagnet.wrong(ibdiagnet.parse(FIRMWARE.split("-W-")[0])) == ("FW Check finished with errors",)


def test_the_beginning_of_an_early_release() -> None:
    told = ibdiagnet.parse(EARLY)
    assert (told.release, told.command, told.nodes, told.switches, told.cas) == (2, "ibdiagnet", 4, 1, 3)
    assert [(check.stage, check.check) for check in told.checks] == [
        ("Discovery", "Fabric Discover"),
        ("Discovery", "Discovery"),
        ("Discovery", "Duplicated GUIDs detection"),
        ("Lids Check", "Lids Check"),
    ]
    assert (told.unread, told.cut) == (0, True)


def test_firmware_and_the_summary_alone() -> None:
    told = ibdiagnet.facts(ibdiagnet.parse(FIRMWARE))
    assert [(found["node"], found["version"]) for found in told["firmware"]] == [
        ("r-ufm118/U1", "12.27.6008"),
        ("r-ufm112/U2", "12.26.4012"),
    ]
    assert (told["warning_lines"], told["errors"], told["cut"]) == (2, None, True)
    short = ibdiagnet.parse(SUMMARY)
    assert dict(short.counts)["Total Nodes"] == 15
    assert [(row.stage, row.warnings, row.errors) for row in short.stages] == [
        ("Discovery", 3, 0),
        ("Virtualization", 0, 0),
        ("Routing", 0, 0),
    ]
    assert (short.unread, short.cut) == (0, False)


def test_the_standby_managers_of_a_fabric() -> None:
    # The first line and "No Standby SM": a post on medium.com about SR-IOV; GUIDs are made up.
    line = "Port=1 LID={} GUID=0xa088c20300e5{} devid=4129 Priority:0 Node_Type=CA Node_Description=n mlx5_0"
    text = f"Master SM: {line.format(1, '0001')}\nStandby SM :\n{line.format(7811, '0002')}\n{SUMMARY}"
    assert [(found.state, found.lid) for found in ibdiagnet.parse(text).sms] == [("master", 1), ("standby", 7811)]


def test_the_log_of_ibutils_1() -> None:
    told = ibdiagnet.parse(FIRST)
    assert (told.release, told.nodes, told.switches, told.cas) == (1, 2, 0, 2)
    assert [(row.stage, row.warnings, row.errors) for row in told.stages] == [
        ("Bad GUIDs/LIDs Check", 0, 0),
        ("Specific Link Speed Check", 5, 2),
        ("IPoIB Subnets Check", 1, 0),
    ]
    assert [(found.level, found.stage) for found in told.findings] == [("W", ""), ("W", "IPoIB Subnets Check")]
    assert (told.unread, told.cut) == (0, False)
    assert ibdiagnet.wrong(told) == ("Specific Link Speed Check: 2 errors in all",)


@pytest.mark.parametrize("lines", range(2, 83, 5))
def test_a_cut_log_gives_what_is_there(lines: int) -> None:
    told = ibdiagnet.parse("\n".join(sample("ibdiagnet").split("\n")[:lines]))
    assert told.cut == (lines < 74)


def test_many_findings_are_counted_and_few_are_shown() -> None:
    line = (
        '-E- S{0}/N{0}/P1 - "symbol_error_counter" increased during the run '
        "(difference value=9,difference allowed threshold=1)"
    )
    told = ibdiagnet.parse("Running: ibdiagnet\n" + "\n".join(line.format(n) for n in range(300)))
    assert ibdiagnet.facts(told)["findings"][0]["count"] == 300
    assert len(ibdiagnet.facts(told)["findings"][0]["texts"]) == 20
    assert len(ibdiagnet.wrong(told)) == 11
    assert ibdiagnet.wrong(told)[-1] == "290 more errors of the kind 'counter'"


OTHERS = sorted(path.stem for path in SAMPLES.glob("*.txt"))


@pytest.mark.parametrize("name", OTHERS)
def test_other_tools_texts_are_refused(name: str) -> None:
    if name != "ibdiagnet":
        with pytest.raises(ParseError):
            ibdiagnet.parse(sample(name))


def test_prose_and_other_complaints_are_refused() -> None:
    for text in ("", "Dear all\n", "-E- Failed to open device mlx5_9\n", "-I- Done\n", "START_X\na,b\n1,2\nEND_X\n"):
        with pytest.raises(ParseError):
            ibdiagnet.parse(text)
