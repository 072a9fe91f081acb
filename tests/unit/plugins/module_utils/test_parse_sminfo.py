# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import sminfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.sminfo import Sminfo

# The layout that infiniband-diags 44.0 prints; the values are made up.
MASTER = "sminfo: sm lid 4 sm guid 0x8c0eb0300f6fc26, activity count 5568705 priority 15 state 3 SMINFO_MASTER\n"
FACTS = Sminfo(
    lid=4,
    guid="0x8c0eb0300f6fc26",
    activity=5568705,
    priority=15,
    state=3,
    state_name="SMINFO_MASTER",
)
# Recorded from infiniband-diags 44.0 on a host without an HCA, exit status 255.
NO_UMAD = """\
ibwarn: [13303] mad_rpc_open_port: can't open UMAD port ((null):0)
/usr/sbin/sminfo: iberror: failed: Failed to open '(null)' port '0'
"""
WARNING = "ibwarn: [88] mad_rpc: _do_madrpc failed; dport (Lid 1)\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(MASTER, id="as printed"),
        pytest.param(MASTER.replace("sm lid 4", "sm lid 0x4"), id="hexadecimal LID of OFED 1.x"),
        pytest.param(MASTER.replace(" state", "\n  state"), id="wrapped"),
        pytest.param(MASTER.replace(" activity", "\n activity").replace(" 15", "\n15"), id="twice"),
        pytest.param(WARNING + MASTER, id="warning before it"),
        pytest.param(MASTER.replace(" state", f"\n{WARNING}state"), id="warning in between"),
        pytest.param(MASTER.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(MASTER.replace("5568705", "5568704") + MASTER, id="asked twice"),
    ],
)
def test_every_layout_gives_the_same_facts(text: str) -> None:
    assert sminfo.parse(text) == FACTS


def test_a_masked_guid_is_kept_as_printed() -> None:
    masked = MASTER.replace("f6fc26", "xxxxxx")
    assert sminfo.parse(masked).guid == "0x8c0eb0300xxxxxx"


def test_the_first_releases_show_a_hexadecimal_lid_and_no_state() -> None:
    parsed = sminfo.parse("sminfo: sm lid 0x3 sm guid 0x10000d, activity count 7 priority 2\n")
    assert parsed == Sminfo(lid=3, guid="0x10000d", activity=7, priority=2)
    assert sminfo.facts(parsed) == {"lid": 3, "guid": "0x10000d", "activity": 7, "priority": 2}


def test_a_state_of_no_name_is_kept() -> None:
    assert sminfo.parse(MASTER.replace("3 SMINFO_MASTER", "7 ???")).state_name == "???"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "sminfo: empty output", id="empty"),
        pytest.param("no such thing", "line 1 'no such thing': no 'sminfo", id="foreign text"),
        pytest.param(MASTER.replace("lid 4", "lid x"), "LID is not a number", id="LID"),
        pytest.param(MASTER.replace("priority 15", "priority high"), "line 1 .*: not", id="priority"),
        pytest.param(MASTER[:-4], "state 3 is SMINFO_MASTER, not SMINFO_", id="cut in the name"),
        pytest.param(MASTER.partition(" state")[0], "not 'sm lid N", id="cut before the state"),
        pytest.param(MASTER[:60], "not 'sm lid N", id="cut half way"),
        pytest.param(MASTER.replace("state 3", "state 2"), "SMINFO_STANDBY, not", id="two states"),
        pytest.param(
            MASTER + MASTER.replace("lid 4", "lid 5"),
            "line 2 .* another SM than in line 1",
            id="two subnet managers",
        ),
        pytest.param(NO_UMAD, "line 2 .*Failed to open.*: no subnet manager answered", id="error"),
        pytest.param(
            WARNING + "sminfo: iberror: failed: query",
            "failed: query': no subnet manager",
            id="no answer",
        ),
    ],
)
def test_text_without_an_answer_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        sminfo.parse(text)


def test_the_tools_own_errors_are_handed_on() -> None:
    with pytest.raises(ParseError) as got:
        sminfo.parse(NO_UMAD)
    assert got.value.error_lines == tuple(NO_UMAD.splitlines())


def test_the_facts_are_the_answer() -> None:
    assert sminfo.facts(FACTS) == {
        "lid": 4,
        "guid": "0x8c0eb0300f6fc26",
        "activity": 5568705,
        "priority": 15,
        "state": 3,
        "state_name": "SMINFO_MASTER",
    }
