# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import perfquery

PORT = """\
# Port counters: Lid 6 port 1 (CapMask: 0x1400)
PortSelect:......................1
CounterSelect:...................0x0000
SymbolErrorCounter:..............65535
LinkDownedCounter:...............1
PortRcvSwitchRelayErrors:........7
PortXmitData:....................178791657177235
"""


def test_counters_and_their_port_are_read() -> None:
    (block,) = perfquery.parse(PORT).blocks
    assert (block.kind, block.target, block.port, block.extended) == ("Port", "Lid 6", "1", False)
    assert block.numbers()["PortXmitData"] == 178791657177235
    (shown,) = perfquery.facts(perfquery.parse(PORT))["blocks"]
    assert shown["counters"]["CounterSelect"] == "0x0000"
    assert shown["nonzero_errors"] == {"SymbolErrorCounter": 65535, "LinkDownedCounter": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PORT.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(PORT.replace("....", "  "), id="dots lost"),
        pytest.param("ibwarn: [1] mad_rpc: x\n" + PORT, id="a warning before it"),
        pytest.param(PORT + "PortXmitPkts:......\n", id="cut before a value"),
    ],
)
def test_how_it_is_shown_changes_no_fact(text: str) -> None:
    assert perfquery.parse(text).blocks == perfquery.parse(PORT).blocks


def test_a_lost_header_leaves_the_port_that_was_selected() -> None:
    (block,) = perfquery.parse(PORT.split("\n", 1)[1]).blocks
    assert (block.target, block.port) == ("", "1")


def test_extended_counters_and_details_are_told_apart() -> None:
    extended = PORT.replace("Port counters", "Port extended counters")
    details = PORT.replace("Port counters", "PortRcvErrorDetails counters")
    assert perfquery.parse(extended).blocks[0].extended
    found = perfquery.facts(perfquery.parse(details))
    assert (found["kind"], found["blocks"], found["port"]) == ("PortRcvErrorDetails", [], "1")


def test_an_error_is_told_not_raised() -> None:
    said = "perfquery: iberror: failed: Failed to open '(null)' port '0'"
    found = perfquery.facts(perfquery.parse(f"ibwarn: [1] x\n{said}\n"))
    assert (found["blocks"], found["error"]) == ([], True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "did not answer", id="nothing"),
        pytest.param("hello", "no counter", id="another's words"),
    ],
)
def test_what_gives_no_facts_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        perfquery.parse(text)


def test_another_port_whose_own_line_is_lost_is_none_of_the_port_before() -> None:
    other = PORT.partition("\n")[2].replace("PortSelect:......................1", "PortSelect:......................2")
    first, second = perfquery.parse(PORT + other).blocks
    assert first == perfquery.parse(PORT).blocks[0]
    assert (second.target, second.port) == ("", "2")


def test_a_number_that_the_text_ends_within_is_none() -> None:
    text = PORT + "PortXmitWait:....................12"
    assert perfquery.parse(text).blocks == perfquery.parse(PORT).blocks
    assert dict(perfquery.parse(text + "\n").blocks[0].counters)["PortXmitWait"] == 12
