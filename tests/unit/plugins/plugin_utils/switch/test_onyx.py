# SPDX-License-Identifier: GPL-3.0-or-later
"""What NVIDIA Onyx tells of a port, by `show roce` and its configuration, or by that alone: set up by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from tests.unit import switch_texts as made
from tests.unit.switch_configs import (
    HAND,
    OFF,
    ONYX,
    ROCE,
    RUNNING,
    SHOW_ROCE,
    bent,
    holds,
    one,
    pfc,
    read_onyx,
    understood,
)

FOREIGN = [
    ("onyx", "1/1-1/4 speed", "1/1-2/4 speed"),
    ("onyx", "1/1-1/3 mtu 9216", "1/1-1/3 mtu big"),
    ("onyx", "ethernet 1/2 description", "ethernet 1/x description"),
    ("onyx by hand", "priority-flow-control mode on", "priority-flow-control mood on"),
    ("onyx by hand", "priority 3 enable", "priority 9 enable"),
    ("onyx by hand", "qos trust L3", "qos trust L5"),
    ("onyx by hand", "control ecn", "control encore"),
    ("onyx by hand", "1/3 pfc-wd", "1/3 no dcb priority-flow-control mode on"),
    ("onyx by hand", "1/3 pfc-wd", "1/3 no qos trust L3"),
    ("onyx by hand", "interface ethernet 1/3 pfc-wd", "no interface ethernet 1/3 qos trust"),
    ("onyx by hand", "interface ethernet 1/3 pfc-wd", "no dcb priority-flow-control priority 3 enable"),
    ("onyx", "1/1-1/3 mtu 9216 force", "1/1-1/3 mtu 9216 force\n   no interface ethernet 1/1 mtu"),
    ("onyx roce", "  6                 6      CNP", "  3                 6      CNP"),
    ("onyx roce", "mode      : lossless", "mode      : lossy-less"),
    ("onyx roce", "trust mode: L3", "trust mode: L4"),
    ("onyx roce", "PFC              : enabled", "PFC              : maybe"),
    ("onyx roce", "Port trust mode: L3\n", ""),
    ("onyx roce", "  Mode    : ecn, absolute\n", ""),
    ("onyx roce", "6      CNP           Strict", "8      CNP           Strict"),
    ("onyx roce", "LLDP           : enabled", "PFC              : enabled"),
    ("onyx roce", "Port trust mode: L3\n", "Port trust mode: L3\nwhat is this\n"),
]
TELLS = [
    pfc((3,), port="Eth1/3"),
    pfc((), port="Eth1/1", roce=ROCE.replace("PFC              : enabled", "PFC              : disabled")),
    pfc(None, port="Eth1/1", roce=ROCE.replace("switch-priority 3: enabled\n", "")),
    pfc((), port="Eth1/1", roce=ROCE.replace(": lossless", ": lossy")),
    pfc(None, port="Eth1/1", roce=ROCE.replace("N/A\n", "Eth1/1: PFC disabled\n")),
    pfc(None, ('1/1 description "node1 eth0"', "1/1 dcb priority-flow-control mode off force"), port="Eth1/1"),
    pfc((3,), ('1/1 description "node1 eth0"', "1/1 dcb priority-flow-control mode off force"), port="Eth1/2"),
    one(("trust", {"dscp"}), port="Eth1/1"),
    one(("trust", {"dscp", "pcp"}), ('1/1 description "node1 eth0"', "1/1 qos trust both"), port="Eth1/1"),
    one(("trust", {"pcp"}), ('1/1 description "node1 eth0"', "1/1 qos trust L2"), port="Eth1/1"),
    one(("trust", set()), port="Eth1/1", roce=ROCE.replace("mode: L3", "mode: port")),
    one((26, (3, 3)), port="Eth1/1"),
    one((48, (6, 6)), port="Eth1/1"),
    one((0, (0, None)), port="Eth1/1"),
    one((40, (5, None)), port="Eth1/1"),
    one((26, None), ('1/1 description "node1 eth0"', "1/1 qos map dscp 26 to switch-priority 4"), port="Eth1/1"),
    one(("ecn", {3}), port="Eth1/1"),
    one(("ecn", set()), port="Eth1/1", roce=ROCE.replace("ecn, absolute", "red, absolute")),
    one(("mtu", 9216), port="Eth1/2"),
    one(("mtu", 1500), port="Eth1/4"),
    one(("mtu", None), ("switchport access vlan 10", "mlag-channel-group 7 mode active"), port="Eth1/4"),
    one(("mtu", 9216), ("switchport access vlan 10", "mlag-channel-group 7 mode active"), port="Eth1/2"),
    one(("watchdog", None), port="Eth1/1"),
    pfc((3,), HAND, port="Eth1/1", roce=OFF),
    pfc(None, HAND, port="Eth1/3", roce=OFF),
    pfc((), HAND, ("control enable force", "control disable force"), port="Eth1/1", roce=OFF),
    pfc((), HAND, ("priority 3 enable", "priority 3 disable"), port="Eth1/1", roce=OFF),
    pfc((), HAND, ("mode on", "mode off"), port="Eth1/1", roce=OFF),
    # What is told of a port by its description does nothing.
    pfc(None, HAND, ("interface ethernet 1/3 pfc-wd", "interface ethernet 1/3 description dcb mode on"), port="Eth1/3",
        roce=OFF),
    # What was lost by a line that nobody follows does not come back by the next.
    one(("ecn", None), HAND, ("1/1-1/2 qos trust L3\n",
        "1/1-1/2 qos trust L3\n   interface ethernet 1/1 traffic-class 3 bind switch-priority 4\n"), port="Eth1/1",
        roce=OFF),
    pfc(None, HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/1", roce=OFF),
    one((26, None), HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/1", roce=OFF),
    # The last line counts.
    pfc((), HAND, ("priority 3 enable\n", "priority 3 enable\n   dcb priority-flow-control priority 3 disable\n"),
        port="Eth1/1", roce=OFF),
    pfc((), HAND, ("control enable force\n", "control enable force\n   dcb priority-flow-control disable force\n"),
        port="Eth1/1", roce=OFF),
    one(("ecn", set()), HAND, ("1/1-1/2 traffic-class 6 dcb ets strict",
        "1/1-1/2 traffic-class 3 congestion-control red minimum-absolute 150 maximum-absolute 1500"), port="Eth1/1",
        roce=OFF),
    pfc(None, HAND, ("mode on", "mode auto"), port="Eth1/1", roce=OFF),
    pfc((), port="Eth1/1", roce=OFF),
    one(("trust", {"dscp"}), HAND, port="Eth1/1", roce=OFF),
    one(("trust", {"pcp"}), HAND, port="Eth1/3", roce=OFF),
    one(("ecn", {3}), HAND, port="Eth1/1", roce=OFF),
    one(("ecn", {3}), HAND, ("control ecn", "control both"), port="Eth1/1", roce=OFF),
    one(("ecn", set()), HAND, ("control ecn", "control red"), port="Eth1/1", roce=OFF),
    one(("ecn", set()), HAND, port="Eth1/3", roce=OFF),
    one(("ecn", None), HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/3",
        roce=OFF),
    one(("trust", None), HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/3",
        roce=OFF),
    one((26, (3, 3)), HAND, port="Eth1/1", roce=OFF),
    one((48, (6, 6)), HAND, port="Eth1/1", roce=OFF),
    one((26, None), HAND, ("ethernet 1/3 pfc-wd", "ethernet 1/3 qos map dscp 26 to switch-priority 4"),
        port="Eth1/3", roce=OFF),
    one((26, None), HAND, ("ethernet 1/3 pfc-wd", "ethernet 1/3 traffic-class 3 bind switch-priority 4"),
        port="Eth1/3", roce=OFF),
    one(("mtu", 9216), HAND, port="Eth1/1", roce=OFF),
]  # fmt: skip


@pytest.mark.parametrize(("parser", "before", "after"), FOREIGN, ids=[f"{one[0]} {one[2].strip()}" for one in FOREIGN])
def test_a_word_that_is_not_understood_is_refused(parser: str, before: str, after: str) -> None:
    assert not understood(parser, before, after)


@pytest.mark.parametrize(("told", "changes", "port", "more"), TELLS)
def test_what_a_configuration_tells_of_a_port(
    told: tuple[Any, Any], changes: tuple[tuple[str, str], ...], port: str, more: dict[str, str]
) -> None:
    holds(told, read_onyx(bent(ONYX, *changes), **more)[port])


ENDS: list[dict[str, Any]] = [{}, {"pfc": Reading(())}, {"cnp_dscp": Reading(26)}, {"trust": Reading("pcp")}]
WRONG = [
    ("", ""),
    ("6                 6 ", "6                 3 "),
    ("ecn, abs", "red, abs"),
    (": lossless", ": lossy"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=["healthy", "CNPs with RoCE", "no ECN", "lossy"])
@pytest.mark.parametrize("end", ENDS, ids=["healthy", "no flow control", "CNPs with RoCE", "trusts the PCP"])
def test_show_roce_without_some_of_its_lines_passes_nothing_more(
    tmp_path: Path, wrong: tuple[str, str], end: dict[str, Any]
) -> None:
    def results(text: str) -> dict[str, str]:
        told = made.write(tmp_path, {"leaf1": {RUNNING: ONYX, SHOW_ROCE: text}})
        checks = made.judged(told, made.host("node1", made.rail(heard=("leaf1", "Eth1/1"), **end)))["node1"]
        return {check.id: check.result for check in checks if "see roce." not in check.cause}

    whole = ROCE.replace(*wrong)
    lines = whole.splitlines(keepends=True)
    kept = results(whole)
    assert "pass" in kept.values()
    for at in range(len(lines)):
        for part in ("".join(lines[:at] + lines[at + 1 :]), "".join(lines[:at])):
            told = results(part)
            assert not {one for one, result in told.items() if result in ("pass", "skip") and kept[one] != result}, at


def test_lines_of_many_ports_end_no_reader() -> None:
    """Each of them names up to 1024: a text of a MiB would have as many as 30 million."""
    many = "   interface ethernet 1/0-1/1023 speed 400G\n" * 30_000
    with pytest.raises(ParseError, match="more ports"):
        read_onyx(bent(ONYX, ("   interface port-channel 7\n", many)))
