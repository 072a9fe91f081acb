# SPDX-License-Identifier: GPL-3.0-or-later
"""What Arista EOS tells of a port, by its configuration."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.switch_configs import EOS, bent, holds, one, pfc, read_eos, understood

FOREIGN = [
    ("eos", "   qos trust dscp\n", "   qos trust exp\n"),
    ("eos", "priority 3 no-drop", "priority 8 no-drop"),
    ("eos", "   priority-flow-control on\n", "   priority-flow-control auto\n"),
    ("eos", "random-detect ecn minimum", "random-detect enc minimum"),
    ("eos", "   uc-tx-queue 3\n", "   uc-tx-queue three\n"),
    ("eos", "   mtu 9214\n", "   mtu big\n"),
    ("eos", "   mtu 9214\n", "   no mtu\n"),
    ("eos", "random-detect ecn count", "no random-detect ecn"),
    ("eos", "   uc-tx-queue 3\n      random-detect ecn count\n", "   no uc-tx-queue 3\n"),
    ("eos", "channel-group 7", "channel-group 8"),
    ("eos", "qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-klass 3"),
    ("eos", "qos map dscp 26 to", "qos map dscp 66 to"),
    ("eos", "   service-profile ROCE\n", "   service-profile ROKE\n"),
    ("eos", "timeout 0.20", "timeout soon"),
    ("eos", "interface Ethernet2/1\n", "interface Ethernet1/1\n"),
]
TELLS = [
    pfc((3,)),
    pfc((3,), ("priority-flow-control on", "priority-flow-control mode on")),
    # What is told of a port by its description, or by a comment, does nothing.
    pfc((), ("interface Ethernet3/1\n", "interface Ethernet3/1\n   description priority-flow-control on\n"
        "   !! priority-flow-control on\n   !! priority-flow-control priority 3 no-drop\n"), port="Ethernet3/1"),
    # A member says what its port channel does not: nobody knows which of them counts.
    one(("trust", None), ("channel-group 7", "qos trust cos\n   channel-group 7"), port="Ethernet4/1"),
    one(("trust", None), ("Channel7\n   switchport access vlan 10\n   qos trust dscp", "Channel7"),
        ("channel-group 7", "qos trust dscp\n   channel-group 7"), port="Ethernet4/1"),
    one(("trust", {"dscp"}), ("channel-group 7", "qos trust dscp\n   channel-group 7"), port="Ethernet4/1"),
    one(("mtu", None), ("channel-group 7", "mtu 9214\n   channel-group 7"), port="Ethernet4/1"),
    one(("mtu", None), ("channel-group 7", "l2 mtu 9214\n   channel-group 7"), port="Ethernet4/1"),
    one(("mtu", None), ("channel-group 7", "no switchport\n   channel-group 7"), port="Ethernet4/1"),
    pfc((), port="Ethernet3/1"),
    pfc((3,), port="Ethernet2/1"),
    pfc((), ("   priority-flow-control on\n", "")),
    pfc((), ("priority 3 no-drop", "priority 3 drop")),
    pfc((3, 4), ("   service-profile", "   priority-flow-control priority 4 no-drop\n   service-profile")),
    pfc((), ("   service-profile", "   priority-flow-control priority 3 drop\n   service-profile")),
    pfc((), ("   service-profile", "   no priority-flow-control\n   service-profile")),
    pfc((), ("qos map dscp 26", "priority-flow-control all off\nqos map dscp 26")),
    one(("trust", {"dscp"})),
    one(("trust", {"pcp"}), port="Ethernet3/1"),
    one(("trust", {"dscp"}), ("vlan 10\n!\nqos", "switchport default mode routed\n!\nqos"), port="Ethernet3/1"),
    one(("trust", {"dscp"}), ("ROCE\n   qos trust dscp\n", "ROCE\n")),
    one(("trust", set()), ("ROCE\n   qos trust dscp\n", "ROCE\n   no qos trust\n")),
    one(("trust", {"dscp"}), port="Ethernet4/1"),
    one(("trust", None), ("   service-profile", "   service-policy type qos input X\n   service-profile")),
    one((26, (3, 3))),
    one((24, (3, 3))),
    one((48, (6, 6))),
    one((0, (1, None))),
    one((8, (0, None))),
    one((26, (4, 4)), ("26 to traffic-class 3", "18 20 22 26 to traffic-class 4 drop-precedence 2")),
    one((26, (3, 5)), ("traffic-class 6 to tx-queue 6", "traffic-class 2 3 to uc-tx-queue 5")),
    one((26, (3, 3)), ("traffic-class 6 to tx-queue 6", "traffic-class 3 to dscp 0")),
    one((26, None), ("traffic-class 6 to tx-queue 6", "traffic-class 3 to priority-group 5")),
    one(("ecn", {3})),
    one(("ecn", {3}), port="Ethernet2/1"),
    one(("ecn", set()), port="Ethernet3/1"),
    one(("ecn", set(range(8))),
        ("vlan 10\n!\nqos", "qos random-detect ecn global-buffer minimum-threshold 1 kbytes\n!\nqos"),
        port="Ethernet3/1"),
    one(("mtu", 9214)),
    one(("mtu", 1500), ("   mtu 9214\n", "")),
    one(("mtu", 9000), ("   mtu 9214\n", ""), ("vlan 10\n!\nqos", "interface defaults\n   mtu 9000\n!\nqos")),
    one(("mtu", 9214), port="Ethernet3/1"),
    # Packets have to pass by both, where a routed port has both.
    one(("mtu", 1500), ("   mtu 9214\n", "   l2 mtu 9214\n")),
    one(("mtu", 9000), ("   mtu 9214\n", "   mtu 9214\n   l2 mtu 9000\n")),
    one(("mtu", 9000), ("   mtu 9214\n", "   mtu 9000\n   l2 mtu 9214\n")),
    one(("mtu", 2000), ("interface Ethernet3/1\n", "interface Ethernet3/1\n   l2 mtu 2000\n"), port="Ethernet3/1"),
    one(("watchdog", True)),
    one(("watchdog", False), ("timeout 0.20", "timeout 0")),
    one(("watchdog", False), ("priority-flow-control pause watchdog default timeout 0.20\n", "")),
    one(("watchdog", False),
        ("   service-profile", "   no priority-flow-control pause watchdog\n   service-profile")),
    one(("watchdog", True), ("priority-flow-control pause watchdog default timeout 0.20\n", ""),
        ("   service-profile", "   priority-flow-control pause watchdog port timer timeout 0.05 polling-interval auto"
         "\n   service-profile")),
    one(("watchdog", False), ("watchdog action drop", "watchdog action notify-only")),
]  # fmt: skip


@pytest.mark.parametrize(("parser", "before", "after"), FOREIGN, ids=[f"{one[0]} {one[2].strip()}" for one in FOREIGN])
def test_a_word_that_is_not_understood_is_refused(parser: str, before: str, after: str) -> None:
    assert not understood(parser, before, after)


@pytest.mark.parametrize(("told", "changes", "port", "more"), TELLS)
def test_what_a_configuration_tells_of_a_port(
    told: tuple[Any, Any], changes: tuple[tuple[str, str], ...], port: str, more: dict[str, str]
) -> None:
    holds(told, read_eos(bent(EOS, *changes))[port])
