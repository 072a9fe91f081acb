# SPDX-License-Identifier: GPL-3.0-or-later
"""What Cisco NX-OS tells of a port, by its configuration and its table of flow control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import texts
from tests.unit import switch_texts as made
from tests.unit.switch_configs import (
    NEGOTIATED,
    NXOS,
    RUNNING,
    TABLE,
    bent,
    holds,
    one,
    pfc,
    read,
    read_nxos,
    understood,
)

FOREIGN = [
    ("nxos", "    pause pfc-cos 3\n", "    pauze pfc-cos 3\n"),
    ("nxos", "    pause pfc-cos 3\n", "    pause pfc-cos 9\n"),
    ("nxos", "    set qos-group 3\n", "    set qos-group three\n"),
    ("nxos", "    set qos-group 3\n", "    sat qos-group 3\n"),
    ("nxos", "  match dscp 26\n", "  match dscp af99\n"),
    ("nxos", "  match dscp 26\n", "  match dscp\n"),
    ("nxos", "  match dscp 26\n", "  mach dscp 26\n"),
    ("nxos", "weight 0 ecn", "weight 0 ecm"),
    ("nxos", "  class ROCE\n", "  klass ROCE\n"),
    ("nxos", "  priority-flow-control mode on\n", "  priority-flow-control mood on\n"),
    ("nxos", "  service-policy type queuing output QOS_EGRESS\n", "  service-policy type funny output QOS_EGRESS\n"),
    ("nxos", "  mtu 9216\n", "  mtu jumbo\n"),
    ("nxos", "interface Ethernet1/2\n", "interface Ethernet1/1\n"),
    ("nxos", "policy-map type queuing QOS_EGRESS\n", "policy-map type qos QOS_INGRESS\n"),
    ("nxos", "  switchport access vlan 10\n", "  inherit port-profile NOWHERE\n"),
    ("nxos", "channel-group 7", "channel-group 8"),
    ("nxos", "    set qos-group 3\n", "    set qos-group 4 3\n"),
    ("nxos", "  no shutdown\n", "  no priority-flow-control mode on\n"),
    ("nxos", "  no shutdown\n", "  no service-policy type qos input QOS_INGRESS\n"),
    ("nxos", "  no shutdown\n", "  no mtu 9216\n"),
    ("nxos", "ip domain-lookup\n", "priority-flow-control override-interface mood off\n"),
    ("nxos", "ip domain-lookup\n", "no priority-flow-control watch-dog-interval on\n"),
    ("nxos table", "On  (8) ", "Un  (8) "),
    ("nxos table", "Ethernet1/2", "Ethernet1/1"),
    ("nxos table", "Oper(VL bmap)", "Oper"),
]
MODE = ("  priority-flow-control mode on\n", "")
TELLS = [
    pfc((3,)),
    pfc(None, MODE),
    pfc((3,), ("mode on", "mode on send-tlv")),
    pfc((), ("mode on", "mode off")),
    pfc((), ("    pause pfc-cos 3\n", "")),
    pfc((3, 4), ("pause pfc-cos 3", "pause pfc-cos 3,4")),
    pfc((3,), ("pause pfc-cos 3", "pause buffer-size 100 pause-threshold 2 resume-threshold 1 pfc-cos 3")),
    pfc(None, ("pause pfc-cos 3", "pause no-drop")),
    pfc(None, ("class type network-qos c-8q-nq3", "class type network-qos OURS")),
    pfc(None, ("service-policy type network-qos QOS_NETWORK", "service-policy type network-qos OTHER")),
    pfc((), ("service-policy type network-qos QOS_NETWORK", "service-policy type network-qos default-nq-policy")),
    pfc((), ("ip domain-lookup\n", "priority-flow-control override-interface mode off\n")),
    pfc((3,), port="Ethernet1/4"),
    pfc(None, port="Ethernet1/2"),
    # The mode of the table is another than that of the configuration: they are not of the same time.
    pfc(None, ("mode on", "mode auto"), table=TABLE),
    pfc(None, table=TABLE.replace("Ethernet1/1        On  ", "Ethernet1/1        Auto")),
    # What is told of a port by its description, or by a comment, does nothing.
    pfc(None, MODE, ("description node1", "description priority-flow-control mode on")),
    pfc(None, ("  priority-flow-control mode on\n", "  !priority-flow-control mode on\n")),
    pfc((3,), ("description node1 eth0", "description priority-flow-control mode off")),
    pfc((), port="Ethernet1/2", table=TABLE),
    pfc((3,), port="Ethernet1/3", table=TABLE),
    pfc((), port="Ethernet1/1", table=TABLE.replace("On   On  (8)", "On   Off    ")),
    pfc(None, port="Ethernet1/1", table=TABLE.replace("(8)", "(9)")),
    pfc((4,), ("pfc-cos 3", "pfc-cos 4"), table=TABLE.replace("(8)", "(10)")),
    pfc(None, ("pfc-cos 3", "pfc-cos 1,4"), table=TABLE.replace("(8)", "(21)")),
    pfc((3,), ("interface Ethernet1/3\n", "interface Ethernet1/3\n  inherit port-profile GPU\n"),
        ("interface Vlan1\n", "port-profile type ethernet GPU\n  priority-flow-control mode on\n"
         "  state enabled\n\ninterface Vlan1\n"),
        port="Ethernet1/3"),
    # A profile that is not enabled does nothing.
    pfc(None, ("interface Ethernet1/3\n", "interface Ethernet1/3\n  inherit port-profile GPU\n"),
        ("interface Vlan1\n", "port-profile type ethernet GPU\n  priority-flow-control mode on\n\ninterface Vlan1\n"),
        port="Ethernet1/3"),
    pfc((3,), ("channel-group 7", "priority-flow-control mode on\n  channel-group 7"), port="Ethernet1/4"),
    pfc(None, ("channel-group 7", "priority-flow-control mode off\n  channel-group 7"), port="Ethernet1/4"),
    one(("mtu", None), ("channel-group 7", "mtu 1500\n  channel-group 7"), port="Ethernet1/4"),
    one(("mtu", None), ("  mtu 9216\n  priority-flow-control mode on\n  service", "  service"),
        ("channel-group 7", "mtu 9216\n  channel-group 7"), port="Ethernet1/4"),
    one(("trust", None), ("channel-group 7", "service-policy type qos input default-in-policy\n  channel-group 7"),
        port="Ethernet1/4"),
    one((26, None), ("channel-group 7", "service-policy type qos input default-in-policy\n  channel-group 7"),
        port="Ethernet1/4"),
    one(("trust", {"dscp"})),
    one(("trust", {"dscp"}), port="Ethernet1/4"),
    one(("trust", set()), port="Ethernet1/3"),
    one(("trust", {"pcp"}), ("match dscp 26", "match cos 3"), ("match dscp 48", "match cos 6")),
    one(("trust", None), ("match dscp 26", "match access-group name ROCE")),
    one(("trust", {"dscp"}), ("system qos\n", "system qos\n  service-policy type qos input QOS_INGRESS\n"),
        port="Ethernet1/3"),
    one(("trust", None), ("policy-map type qos QOS_INGRESS", "policy-map type qos ANOTHER")),
    one((26, (3, 3))),
    one((48, (6, 6))),
    one((0, (0, 0))),
    one((26, (3, 3)), ("match dscp 26", "match dscp 24-31")),
    one((26, (3, 3)), ("match dscp 26", "match dscp cs3, af31")),
    one((26, (3, 3)), ("match dscp 26", "match ip dscp 24,26")),
    one((26, (0, 0)), ("match-any ROCE\n  match dscp 26", "match-all ROCE\n  match dscp 26\n  match dscp 24")),
    one((26, (3, 3)), ("match-any ROCE\n  match dscp 26", "match-any ROCE\n  match dscp 24\n  match dscp 26")),
    one((26, (4, 3)), ("pause pfc-cos 3", "pause pfc-cos 4")),
    # What another class is paused for is no pause of this one.
    one((26, (None, 4)), ("set qos-group 3", "set qos-group 4"), ("pause pfc-cos 3", "pause pfc-cos 4")),
    one((26, None), ("match-any ROCE\n", "match-all ROCE\n  match cos 3\n")),
    # Which class is paused is not known: that of RoCE may be another.
    one((26, None), ("class type network-qos c-8q-nq3", "class type network-qos OURS")),
    one((26, None), ("match-any ROCE\n  match dscp 26\n", "match-any ROCE\n")),
    one((26, (0, 0)), ("    set qos-group 3\n", "    set cos 3\n")),
    one((26, (3, 3)), ("c-8q-nq3", "c-nq3"), ("c-out-8q-q3", "c-out-q3")),
    one(("ecn", {3})),
    one(("ecn", set()), ("weight 0 ecn", "weight 0")),
    one(("ecn", {3}), ("c-out-8q-q3", "OURS"),
        ("system qos\n", "class-map type queuing match-any OURS\n  match qos-group 3\nsystem qos\n")),
    one(("ecn", None), ("c-out-8q-q3", "OURS")),
    one(("ecn", None), ("queuing output QOS_EGRESS", "queuing output OTHER")),
    one(("ecn", set()), ("queuing output QOS_EGRESS", "queuing output default-out-policy")),
    one(("ecn", {3}), ("    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes"
        " drop-probability 7 weight 0 ecn", "    random-detect threshold burst-optimized ecn")),
    one(("mtu", 9216)),
    one(("mtu", None), port="Ethernet1/3"),
    one(("mtu", 1500), ("    mtu 9216\n", ""), port="Ethernet1/3"),
    one(("mtu", 9216), port="Ethernet1/4"),
    one(("watchdog", True)),
    one(("watchdog", False), port="Ethernet1/4"),
    one(("watchdog", False), ("\npriority-flow-control watch-dog-interval on", "")),
]  # fmt: skip


@pytest.mark.parametrize(("parser", "before", "after"), FOREIGN, ids=[f"{one[0]} {one[2].strip()}" for one in FOREIGN])
def test_a_word_that_is_not_understood_is_refused(parser: str, before: str, after: str) -> None:
    assert not understood(parser, before, after)


@pytest.mark.parametrize(("told", "changes", "port", "more"), TELLS)
def test_what_a_configuration_tells_of_a_port(
    told: tuple[Any, Any], changes: tuple[tuple[str, str], ...], port: str, more: dict[str, str]
) -> None:
    holds(told, read_nxos(bent(NXOS, *changes), **more)[port])


def test_a_table_that_was_cut_tells_of_fewer_ports_and_of_none_otherwise() -> None:
    whole = read_nxos(bent(NXOS, ("  priority-flow-control mode on\n", "")), TABLE)
    lines = TABLE.splitlines(keepends=True)
    for at in range(len(lines)):
        found = read("nxos table", "".join(lines[:at]))
        for name, port in (found or {}).items():
            assert port.pfc.value in (None, whole[name].pfc.value, (3,)), name


def test_a_table_beside_the_configuration_of_nx_os_is_read(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": {RUNNING: NXOS, NEGOTIATED: TABLE}})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert handed.errors == ()
    port = handed.switches[0].port("Eth1/3")
    assert port is not None
    assert port.pfc.value == (3,)
    assert f"leaf1/{NEGOTIATED} line 7" in port.pfc.line


def test_the_terminal_after_the_configuration_is_left_out() -> None:
    assert read_nxos(f"leaf1# show running-config\n{NXOS}\nleaf1# show clock\n09:00\n").keys() == read_nxos(NXOS).keys()
