# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells of a RoCE port's priorities and addresses: mlnx_qos, dcb, the GID table."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dcb, gid, mlnx_qos
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gid import Gid

CLASSES = "".join(f"tc: {n} ratelimit: unlimited, tsa: vendor\n\t priority:  {n}\n" for n in range(8))
QOS = f"""DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
\tprio:0 dscp:07,06,05,04,03,02,01,00,
\tprio:3 dscp:31,30,29,28,27,26,25,24,
default priority:
Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,total_size=1027728
Cable len: 7
PFC configuration:
\tpriority    0   1   2   3   4   5   6   7
\tenabled     0   0   0   1   0   0   1   0   \n\tbuffer      0   0   0   1   0   0   0   0
{CLASSES}"""


def test_mlnx_qos_tells_trust_flow_control_and_the_priority_of_each_dscp() -> None:
    parsed = mlnx_qos.parse(QOS)
    assert (parsed.trust, parsed.pfc) == ("dscp", (3, 6))
    assert dict(parsed.priority)[26] == 3
    assert dict(parsed.priority)[0] == 0
    assert len(parsed.priority) == 16


@pytest.mark.parametrize(
    "text",
    [
        QOS.replace("\n", "\r\n"),
        QOS.replace("\t", ""),
        QOS.replace("\n", "\n\n"),
        QOS.replace("enabled     0", "\x1b[1menabled: \x1b[0m 0"),
        "****** WARNING: lldpad service is running ******\n\n" + QOS,
    ],
)
def test_the_layout_does_not_matter(text: str) -> None:
    assert mlnx_qos.parse(text) == mlnx_qos.parse(QOS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Interface name is required\n",
        QOS[: QOS.index("PFC configuration")],
        QOS[: QOS.index("enabled") + 20],
        QOS.replace("enabled     0   0", "enabled     0"),
        QOS.replace("enabled     0   0", "enabled     0   2"),
        QOS.replace("dscp:07", "dscp:99"),
        QOS.replace("dscp:31,30", "dscp:31,3#"),
    ],
)
def test_an_output_that_was_cut_or_bent_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        mlnx_qos.parse(text)


@pytest.mark.parametrize("end", [QOS.rindex("buffer"), len(QOS) - 20])
def test_of_a_text_that_ends_among_the_classes_nothing_else_is_lost(end: int) -> None:
    parsed, whole = mlnx_qos.parse(QOS[:end]), mlnx_qos.parse(QOS)
    assert (parsed.trust, parsed.pfc, parsed.priority) == (whole.trust, whole.pfc, whole.priority)
    assert (parsed.cut, whole.cut, mlnx_qos.facts(parsed)["cut"]) == (True, False, True)


def test_dcb_tells_flow_control() -> None:
    flags = "0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:on"
    text = f"pfc-cap 8 macsec-bypass off delay 0\nprio-pfc {flags} \n"
    assert dcb.parse_pfc(text) == (3, 7)
    for bent in ("", "pfc-cap 8\n", text.replace(" 7:on", ""), text.replace("3:on", "3:maybe")):
        with pytest.raises(ParseError):
            dcb.parse_pfc(bent)


def test_dcb_tells_the_priority_of_each_dscp_by_name_or_number() -> None:
    assert dcb.parse_app("default-prio 0\ndscp-prio 0:0 CS3:3 CS3:4 AF31:3 48:6 EF:5 \n") == (
        (0, 0),
        (24, 4),
        (26, 3),
        (46, 5),
        (48, 6),
    )
    assert dcb.parse_app("") == ()
    for bent in ("dscp-prio XX:3\n", "dscp-prio 64:3\n", "dscp-prio CS3\n", "dscp-prio CS3:3 CS"):
        with pytest.raises(ParseError):
            dcb.parse_app(bent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0000:0000:0000:0000:0000:ffff:0a00:0105\n", Gid("10.0.1.5", gid.IPV4)),
        ("0000:0000:0000:0000:0000:ffff:a9fe:0105", Gid("169.254.1.5", gid.LINK_LOCAL)),
        ("fe80:0000:0000:0000:0ac0:ebff:fe00:0001", Gid("fe80::ac0:ebff:fe00:1", gid.LINK_LOCAL)),
        ("fd00:0000:0000:0000:0000:0000:0000:0005", Gid("fd00::5", gid.IPV6)),
        ("0000:0000:0000:0000:0000:0000:0000:0000", Gid("", gid.EMPTY)),
    ],
)
def test_gids_are_read_as_people_write_them(text: str, expected: Gid) -> None:
    assert gid.parse(text) == expected


@pytest.mark.parametrize("text", ["", "unknown", "fe80", "0x1", "1:" * 500])
def test_what_is_no_gid_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a GID"):
        gid.parse(text)
