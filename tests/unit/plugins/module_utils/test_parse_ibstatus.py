# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstatus

PORT = """\
Infiniband device 'mlx5_{n}' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:a088:c203:00e3:142a
\tbase lid:\t 0x1a
\tsm lid:\t\t 0x1
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t 400 Gb/sec (4X NDR)
\tlink_layer:\t InfiniBand

"""
TWO = PORT.format(n=0) + PORT.format(n=1)
OTHER = PORT.format(n=0) + PORT.format(n=1).replace(":142a", ":142b")


def test_every_line_of_a_port_is_read() -> None:
    first, second = ibstatus.parse(TWO).ports
    assert (first.name, first.port, second.name) == ("mlx5_0", 1, "mlx5_1")
    assert (first.lid, first.sm_lid, first.rate) == (26, 1, 400.0)
    assert (first.state, first.phys_state) == ("4: ACTIVE", "5: LinkUp")
    assert first.link_layer == "InfiniBand"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("\n", "\r\n", id="CRLF"),
        pytest.param("\t", "", id="lost indentation"),
        pytest.param("\n", "\n\n", id="blank lines"),
        pytest.param("\tsm lid:\t\t 0x1\n", "\tsm lid: 0x1      [0/1989]\n", id="tmux"),
        pytest.param("Infiniband device 'mlx5_0'", "nfiniband device 'mlx5_0'", id="first letter"),
    ],
)
def test_how_a_terminal_shows_it_changes_no_fact(old: str, new: str) -> None:
    known = [(one.name, one.lid, one.rate, one.state) for one in ibstatus.parse(TWO).ports]
    bent = ibstatus.parse(TWO.replace(old, new)).ports
    assert [(one.name, one.lid, one.rate, one.state) for one in bent] == known


def test_a_missing_line_is_left_out_of_the_facts() -> None:
    (port,) = ibstatus.facts(ibstatus.parse(PORT.replace("\tlink_layer:\t InfiniBand\n", "")))["devices"]
    assert "link_layer" not in port
    assert port["lid_int"] == 26


def test_no_device_is_what_the_tool_said() -> None:
    found = ibstatus.facts(ibstatus.parse("Fatal error:  No devices\n"))
    assert (found["n_devices"], found["error"]) == (0, "Fatal error:  No devices")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("bash: ibstatus: command not found", "no port", id="another's words"),
        pytest.param(PORT.format(n=0) * 2, "already listed", id="twice"),
        pytest.param("state: 4: ACTIVE\n", "belongs to no port", id="no header"),
    ],
)
def test_what_gives_no_facts_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        ibstatus.parse(text)


@pytest.mark.parametrize(
    ("text", "ports", "unread"),
    [
        pytest.param("state: 4: ACTIVE\n" + TWO, 2, 1, id="a line before the first port"),
        pytest.param(
            OTHER.replace("Infiniband device 'mlx5_0' port 1 status:\n", ""), 1, 7, id="the first header lost"
        ),
        pytest.param(OTHER.replace("Infiniband device 'mlx5_1' port 1 status:\n", ""), 1, 7, id="another header lost"),
    ],
)
def test_a_line_whose_port_is_not_known_is_no_other_port_s(text: str, ports: int, unread: int) -> None:
    found, whole = ibstatus.parse(text), (*ibstatus.parse(TWO).ports, *ibstatus.parse(OTHER).ports)
    assert (len(found.ports), found.unread) == (ports, unread)
    assert set(found.ports) <= set(whole)
    assert ibstatus.facts(found)["unread"] == unread


def test_a_number_that_is_damaged_is_none() -> None:
    for text in (PORT.replace("0x1a", "-1"), PORT[: PORT.index("0x1a") + 3]):
        (port,) = ibstatus.parse(text).ports
        assert port.lid is None
