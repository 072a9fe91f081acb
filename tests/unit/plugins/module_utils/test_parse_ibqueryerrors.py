# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibqueryerrors

# The layout that infiniband-diags 56.1 prints; the values are made up.
HCA = """\
Errors for "gpu-a1 mlx5_3"
   GUID 0x200000000010001 port 1: [SymbolErrorCounter == 44] [PortXmitWait == 19353 (19.353K)]
"""
LEAF = """\
Errors for 0x200001 "MF0;leaf [1]:MQM9700/U1"
   GUID 0x200001 port ALL: [LinkDownedCounter == 12]
   GUID 0x200001 port 13: [LinkDownedCounter == 12]
"""
SUMMARY = """
## Summary: 6 nodes checked, 2 bad nodes found
##          70 ports checked, 2 ports have errors beyond threshold
## Thresholds: [SymbolErrorCounter = 10]
## Suppressed: PortRcvSwitchRelayErrors
"""
TEXT = HCA + LEAF + SUMMARY
LINK_INFO = (
    "       Link info:     23   1[  ] ==( 4X        106.25 Gbps Active/  LinkUp)==>  "
    '0x0000000000200001     70   12[  ] "leaf-1" ( )\n'
)
WARNING = "ibwarn: [7] _do_madrpc: recv failed: Connection timed out\n"
NO_PORT = "/usr/sbin/ibqueryerrors: iberror: failed: Failed to open port; (null):0\n"


def test_every_port_above_its_threshold() -> None:
    parsed = ibqueryerrors.parse(TEXT)
    hca, leaf = parsed.nodes
    assert (hca.guid, hca.name) == ("", "gpu-a1 mlx5_3")
    assert hca.ports[0].counters == {"SymbolErrorCounter": 44, "PortXmitWait": 19353}
    assert hca.ports[0].wide == ("PortXmitWait",)
    assert (leaf.guid, leaf.name) == ("0x200001", "MF0;leaf [1]:MQM9700/U1")
    assert [one.port for one in leaf.ports] == ["ALL", "13"]
    assert (parsed.nodes_checked, parsed.bad_nodes) == (6, 2)
    assert (parsed.ports_checked, parsed.ports_with_errors) == (70, 2)


def test_a_clean_fabric_has_a_summary_only() -> None:
    parsed = ibqueryerrors.parse(SUMMARY.replace("2 bad", "0 bad").replace("2 ports", "0 ports"))
    assert (parsed.nodes, parsed.bad_nodes, parsed.ports_with_errors) == ((), 0, 0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WARNING + TEXT, id="warning before it"),
        pytest.param(TEXT.replace(" [PortXmit", f"\n{WARNING}[PortXmit"), id="wrapped"),
        pytest.param(TEXT.replace("44] [", "44]\n   ["), id="wrapped between two counters"),
        pytest.param(TEXT.replace("XmitWait == ", "XmitWait ==\n "), id="wrapped in a counter"),
        pytest.param(TEXT.replace(", 2 bad", ",\n## 2 bad"), id="wrapped summary"),
        pytest.param(TEXT.replace("(19.353K)]\n", "(19.353K)]\n" + LINK_INFO), id="-r"),
    ],
)
def test_every_layout_gives_the_same_counters(text: str) -> None:
    assert ibqueryerrors.parse(text) == ibqueryerrors.parse(TEXT)


def test_questions_that_nobody_answered_are_counted() -> None:
    text = TEXT.replace("## Suppressed", "##          3 PMA query failures\n## Suppressed")
    assert ibqueryerrors.parse(text).query_failures == 3


def test_without_a_summary_the_counts_are_open() -> None:
    parsed = ibqueryerrors.parse(HCA)
    assert (parsed.nodes_checked, parsed.ports_checked) == (None, None)
    assert ibqueryerrors.facts(parsed)["bad_nodes"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "ibqueryerrors: empty output", id="empty"),
        pytest.param("no such thing", "line 1 .*: no node and no summary", id="foreign text"),
        pytest.param(HCA[: HCA.index(":")], "line 2 .*: not 'GUID", id="cut in a port"),
        pytest.param(HCA[: HCA.index("[")], "line 2 .*: no counter", id="cut before the counters"),
        pytest.param(HCA[:20], "line 1 .*: not 'Errors for", id="cut in a header"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ibqueryerrors.parse(text)


def counters(text: str) -> list[tuple[str, str, dict[str, int]]]:
    return [(node.name, port.port, port.counters) for node in ibqueryerrors.parse(text).nodes for port in node.ports]


WHOLE = counters(TEXT)


@pytest.mark.parametrize(
    ("text", "left", "cut", "unread"),
    [
        pytest.param(TEXT, WHOLE, "", 0, id="whole"),
        pytest.param(
            TEXT[: TEXT.index(" (19")],
            [("gpu-a1 mlx5_3", "1", {"SymbolErrorCounter": 44})],
            "no summary",
            1,
            id="cut in a counter",
        ),
        pytest.param(
            TEXT.replace("Counter == 44]", "Coun"),
            [("gpu-a1 mlx5_3", "1", {"PortXmitWait": 19353}), *WHOLE[1:]],
            "",
            1,
            id="a counter cut out",
        ),
        pytest.param(TEXT.partition("\n")[2], [("", *WHOLE[0][1:]), *WHOLE[1:]], "belongs to no node", 0, id="no head"),
        pytest.param(
            TEXT.replace(LEAF.splitlines(keepends=True)[0], ""),
            [WHOLE[0], *(("", *rest) for _name, *rest in WHOLE[1:])],
            "line 3 belongs to no node",
            0,
            id="no head within",
        ),
        pytest.param(
            TEXT.replace("".join(LEAF.splitlines(keepends=True)[:2]), ""),
            [WHOLE[0], ("", *WHOLE[2][1:])],
            "line 3 belongs to no node",
            0,
            id="nor the sum of its ports",
        ),
        pytest.param(
            TEXT.replace("".join([*HCA.splitlines(keepends=True)[1:], *LEAF.splitlines(keepends=True)[:1]]), ""),
            [("", *rest) for _name, *rest in WHOLE[1:]],
            "line 2 belongs to no node",
            0,
            id="the end of a node and the next head",
        ),
        pytest.param(
            TEXT.replace(HCA, "").replace("   GUID 0x200001 port 13", "UID 0x200001 port 13"),
            WHOLE[1:2],
            "0 of 2 ports",
            1,
            id="the beginning of a line",
        ),
        pytest.param(
            TEXT.replace("GUID 0x200001 port 13", "GUID"), WHOLE[:2], "1 of 2 ports", 1, id="whose line is it"
        ),
        pytest.param(TEXT.replace(HCA, ""), WHOLE[1:], "1 of 2 ports", 0, id="a node cut out"),
        pytest.param(TEXT.replace(SUMMARY, ""), WHOLE, "no summary", 0, id="no summary"),
        pytest.param(
            TEXT.replace('"MF0', "MF0"), [WHOLE[0], *(("", *rest) for _name, *rest in WHOLE[1:])], "", 1, id="a head"
        ),
    ],
)
def test_what_can_be_read_is_kept(text: str, left: list[object], cut: str, unread: int) -> None:
    parsed = ibqueryerrors.parse(text)
    assert counters(text) == left
    assert (cut in parsed.cut, bool(cut), parsed.unread) == (True, bool(parsed.cut), unread)
    assert bool(parsed.partial) == bool(cut or unread)
    told = ibqueryerrors.facts(parsed)
    assert (told["cut"], told["unread"], len(told["error_lines"])) == (bool(cut), unread, unread)


def test_a_nameless_adapter_has_ports_with_guids_in_a_row() -> None:
    text = HCA + "   GUID 0x200000000010002 port 2: [LinkDownedCounter == 3]\n"
    assert [len(node.ports) for node in ibqueryerrors.parse(text).nodes] == [2]
    other = HCA + "   GUID 0x200000000020002 port 2: [LinkDownedCounter == 3]\n"
    assert [(node.name, len(node.ports)) for node in ibqueryerrors.parse(other).nodes] == [
        ("gpu-a1 mlx5_3", 1),
        ("", 1),
    ]


def test_a_guid_that_was_copied_short_names_the_same_switch() -> None:
    text = LEAF.replace("0x200001", "0x80038000235b96d").replace(
        "0x80038000235b96d port ALL", "0x80038000235b9 port ALL"
    )
    (node,) = ibqueryerrors.parse(text).nodes
    assert [port.port for port in node.ports] == ["ALL", "13"]


def test_a_tool_that_could_not_ask_says_why() -> None:
    parsed = ibqueryerrors.parse(NO_PORT)
    assert parsed.error_lines == (NO_PORT.strip(),)
    assert ibqueryerrors.facts(parsed)["error"] is True
