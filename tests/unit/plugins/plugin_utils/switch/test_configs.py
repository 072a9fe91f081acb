# SPDX-License-Identifier: GPL-3.0-or-later
"""Running configurations of NX-OS, EOS and Onyx: what is told of a port, and no answer to what is not understood."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import eos, nxos, onyx, texts
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch.port import SwitchPort, Text
from tests.gauntlet.switches import site
from tests.unit import switch_texts as made

FEW = settings(max_examples=80, deadline=None, database=None)
RUNNING, SHOW_ROCE, NEGOTIATED = "show_running-config.txt", "show_roce.txt", nxos.NEGOTIATED
NXOS = site.SYSTEMS["nxos"].texts("leaf1")[RUNNING]
EOS = site.SYSTEMS["eos"].texts("leaf1")[RUNNING]
ONYX, ROCE = (site.SYSTEMS["onyx"].texts("leaf1")[file] for file in (RUNNING, SHOW_ROCE))
TABLE = """\
============================================================
Port               Mode Oper(VL bmap)  RxPPP      TxPPP
============================================================

Ethernet1/1        On   On  (8)        4088353    1890
Ethernet1/2        Auto Off           0          0
Ethernet1/3        Auto On  (8)       0          12
"""
Ports = dict[str, SwitchPort]


def read_nxos(text: str, table: str = "") -> Ports:
    return nxos.read(Text("leaf1/file", text), Text("leaf1/table", table) if table else None)[1]


def read_eos(text: str) -> Ports:
    return eos.read(Text("leaf1/file", text))[1]


def read_onyx(text: str, roce: str = ROCE) -> Ports:
    return onyx.read(Text("leaf1/file", text), Text("leaf1/roce", roce))[1]


def bent(text: str, *changes: tuple[str, str]) -> str:
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    return text


# Onyx without the command roce: the same, set up by hand.
OFF = "RoCE mode: N/A\n"
HAND = (
    "\n##\n## VLAN configuration\n",
    """
##
## QoS switch configuration
##
   interface ethernet 1/1-1/2 qos trust L3
   interface ethernet 1/1-1/2 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
   interface ethernet 1/1-1/2 traffic-class 6 dcb ets strict

##
## DCBX PFC configuration
##
   dcb priority-flow-control enable force
   dcb priority-flow-control priority 3 enable
   interface ethernet 1/1-1/2 dcb priority-flow-control mode on force
   interface ethernet 1/3 pfc-wd

##
## VLAN configuration
""",
)


PARSERS: dict[str, tuple[Callable[[str], Ports], str]] = {
    "nxos": (read_nxos, NXOS),
    "nxos table": (lambda table: read_nxos(NXOS, table or " "), TABLE),
    "eos": (read_eos, EOS),
    "onyx": (read_onyx, ONYX),
    "onyx by hand": (lambda text: read_onyx(text, OFF), bent(ONYX, HAND)),
    "onyx roce": (lambda roce: read_onyx(ONYX, roce), ROCE),
}
EACH = pytest.mark.parametrize("parser", PARSERS)
CONFIGS = pytest.mark.parametrize("parser", ["nxos", "eos", "onyx"])


def read(name: str, text: str) -> Ports | None:
    """What the parser gives, or None for its error, which names the file and a line that there is."""
    try:
        return PARSERS[name][0](text)
    except ParseError as exc:
        refused = exc
    assert refused.tool in ("leaf1/file", "leaf1/table", "leaf1/roce")
    assert 0 <= refused.line_no <= text.count("\n") + text.count("\r") + 1
    return None


@EACH
@FEW
@given(text=st.text())
def test_any_text_is_an_error_that_names_the_file(parser: str, text: str) -> None:
    assert read(parser, text) is None


@EACH
@FEW
@given(data=st.data())
def test_a_text_with_a_hole_is_read_or_refused(parser: str, data: st.DataObject) -> None:
    text = PARSERS[parser][1]
    start = data.draw(st.integers(0, len(text)))
    read(parser, text[:start] + data.draw(st.text(max_size=5)) + text[start + data.draw(st.integers(0, 40)) :])


@pytest.mark.parametrize("parser", ["nxos", "eos", "onyx", "onyx by hand", "onyx roce"])
def test_a_text_that_was_cut_behind_or_within_any_line_is_refused(parser: str) -> None:
    """Up to the line that has to be the last; a cut NX-OS text may have lost the lines behind the interfaces."""
    lines = PARSERS[parser][1].splitlines(keepends=True)
    end = next(at for at, line in enumerate(lines) if line.startswith("line console")) if parser == "nxos" else -1
    last = len(lines) - 1 if end < 0 else end
    for at in range(last + 1):
        assert read(parser, "".join(lines[:at])) is None, lines[at]
        assert read(parser, "".join(lines[:at]) + lines[at].rstrip("\n")[:-1]) is None, lines[at]


def test_a_table_that_was_cut_tells_of_fewer_ports_and_of_none_otherwise() -> None:
    whole = read_nxos(bent(NXOS, ("  priority-flow-control mode on\n", "")), TABLE)
    lines = TABLE.splitlines(keepends=True)
    for at in range(len(lines)):
        found = read("nxos table", "".join(lines[:at]))
        for name, port in (found or {}).items():
            assert port.pfc.value in (None, whole[name].pfc.value, (3,)), name


@CONFIGS
@FEW
@given(data=st.data())
def test_a_text_that_lost_its_head_is_refused(parser: str, data: st.DataObject) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if line.lower().find("running") >= 0)
    assert read(parser, "".join(lines[data.draw(st.integers(head + 1, len(lines))) :])) is None


@CONFIGS
@FEW
@given(data=st.data())
def test_what_a_terminal_puts_between_the_lines_is_refused(parser: str, data: st.DataObject) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    strange = data.draw(st.sampled_from([" --More-- \n", "% Invalid command\n", "--more--\n"]))
    banner = [at for at, line in enumerate(lines) if "no place" in line]
    allowed = [at for at in range(6, len(lines)) if not banner or at not in (banner[0], banner[0] + 1)]
    at = data.draw(st.sampled_from(allowed))
    assert read(parser, "".join([*lines[:at], strange, *lines[at:]])) is None


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
    ("nxos table", "On  (8) ", "Un  (8) "),
    ("nxos table", "Ethernet1/2", "Ethernet1/1"),
    ("nxos table", "Oper(VL bmap)", "Oper"),
    ("eos", "   qos trust dscp\n", "   qos trust exp\n"),
    ("eos", "priority 3 no-drop", "priority 8 no-drop"),
    ("eos", "   priority-flow-control on\n", "   priority-flow-control auto\n"),
    ("eos", "random-detect ecn minimum", "random-detect enc minimum"),
    ("eos", "   uc-tx-queue 3\n", "   uc-tx-queue three\n"),
    ("eos", "   mtu 9214\n", "   mtu big\n"),
    ("eos", "qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-klass 3"),
    ("eos", "qos map dscp 26 to", "qos map dscp 66 to"),
    ("eos", "   service-profile ROCE\n", "   service-profile ROKE\n"),
    ("eos", "timeout 0.20", "timeout soon"),
    ("eos", "interface Ethernet2/1\n", "interface Ethernet1/1\n"),
    ("onyx", "1/1-1/4 speed", "1/1-2/4 speed"),
    ("onyx", "1/1-1/3 mtu 9216", "1/1-1/3 mtu big"),
    ("onyx", "ethernet 1/2 description", "ethernet 1/x description"),
    ("onyx by hand", "priority-flow-control mode on", "priority-flow-control mood on"),
    ("onyx by hand", "priority 3 enable", "priority 9 enable"),
    ("onyx by hand", "qos trust L3", "qos trust L5"),
    ("onyx by hand", "control ecn", "control encore"),
    ("onyx roce", "mode      : lossless", "mode      : lossy-less"),
    ("onyx roce", "trust mode: L3", "trust mode: L4"),
    ("onyx roce", "PFC              : enabled", "PFC              : maybe"),
    ("onyx roce", "Port trust mode: L3\n", ""),
    ("onyx roce", "  Mode    : ecn, absolute\n", ""),
    ("onyx roce", "6      CNP           Strict", "8      CNP           Strict"),
    ("onyx roce", "LLDP           : enabled", "PFC              : enabled"),
    ("onyx roce", "Port trust mode: L3\n", "Port trust mode: L3\nwhat is this\n"),
]


@pytest.mark.parametrize(("parser", "before", "after"), FOREIGN, ids=[f"{one[0]} {one[2].strip()}" for one in FOREIGN])
def test_a_word_that_is_not_understood_is_refused(parser: str, before: str, after: str) -> None:
    assert read(parser, PARSERS[parser][1]) is not None
    assert read(parser, bent(PARSERS[parser][1], (before, after))) is None


def one(value: Any, text: str, *changes: tuple[str, str], port: str = "Ethernet1/1", **more: str) -> Any:
    return pytest.param(value, text, changes, port, more, id=" ".join(after for _before, after in changes)[:70] or "as")


def pfc(value: Any, text: str, *changes: tuple[str, str], **more: Any) -> Any:
    return one(("pfc", value), text, *changes, **more)


MODE = ("  priority-flow-control mode on\n", "")
WHOLE = [
    pfc((3,), NXOS),
    pfc(None, NXOS, MODE),
    pfc((3,), NXOS, ("mode on", "mode on send-tlv")),
    pfc((), NXOS, ("mode on", "mode off")),
    pfc((), NXOS, ("    pause pfc-cos 3\n", "")),
    pfc((3, 4), NXOS, ("pause pfc-cos 3", "pause pfc-cos 3,4")),
    pfc((3,), NXOS, ("pause pfc-cos 3", "pause buffer-size 100 pause-threshold 2 resume-threshold 1 pfc-cos 3")),
    pfc(None, NXOS, ("pause pfc-cos 3", "pause no-drop")),
    pfc(None, NXOS, ("class type network-qos c-8q-nq3", "class type network-qos OURS")),
    pfc(None, NXOS, ("service-policy type network-qos QOS_NETWORK", "service-policy type network-qos OTHER")),
    pfc((), NXOS, ("service-policy type network-qos QOS_NETWORK", "service-policy type network-qos default-nq-policy")),
    pfc((), NXOS, ("ip domain-lookup\n", "priority-flow-control override-interface mode off\n")),
    pfc((3,), NXOS, port="Ethernet1/4"),
    pfc(None, NXOS, port="Ethernet1/2"),
    pfc((), NXOS, port="Ethernet1/2", table=TABLE),
    pfc((3,), NXOS, port="Ethernet1/3", table=TABLE),
    pfc((), NXOS, port="Ethernet1/1", table=TABLE.replace("On   On  (8)", "On   Off    ")),
    pfc(None, NXOS, port="Ethernet1/1", table=TABLE.replace("(8)", "(9)")),
    pfc((4,), NXOS, ("pfc-cos 3", "pfc-cos 4"), table=TABLE.replace("(8)", "(10)")),
    pfc(None, NXOS, ("pfc-cos 3", "pfc-cos 1,4"), table=TABLE.replace("(8)", "(21)")),
    pfc((3,), NXOS, ("interface Ethernet1/3\n", "interface Ethernet1/3\n  inherit port-profile GPU\n"),
        ("interface Vlan1\n", "port-profile type ethernet GPU\n  priority-flow-control mode on\n\ninterface Vlan1\n"),
        port="Ethernet1/3"),
    one(("trust", {"dscp"}), NXOS),
    one(("trust", {"dscp"}), NXOS, port="Ethernet1/4"),
    one(("trust", set()), NXOS, port="Ethernet1/3"),
    one(("trust", {"pcp"}), NXOS, ("match dscp 26", "match cos 3"), ("match dscp 48", "match cos 6")),
    one(("trust", None), NXOS, ("match dscp 26", "match access-group name ROCE")),
    one(("trust", {"dscp"}), NXOS, ("system qos\n", "system qos\n  service-policy type qos input QOS_INGRESS\n"),
        port="Ethernet1/3"),
    one(("trust", None), NXOS, ("policy-map type qos QOS_INGRESS", "policy-map type qos ANOTHER")),
    one((26, (3, 3)), NXOS),
    one((48, (6, 6)), NXOS),
    one((0, (0, 0)), NXOS),
    one((26, (3, 3)), NXOS, ("match dscp 26", "match dscp 24-31")),
    one((26, (3, 3)), NXOS, ("match dscp 26", "match dscp cs3, af31")),
    one((26, (3, 3)), NXOS, ("match dscp 26", "match ip dscp 24,26")),
    one((26, (0, 0)), NXOS, ("match-any ROCE\n  match dscp 26", "match-all ROCE\n  match dscp 26\n  match dscp 24")),
    one((26, (3, 3)), NXOS, ("match-any ROCE\n  match dscp 26", "match-any ROCE\n  match dscp 24\n  match dscp 26")),
    one((26, (4, 3)), NXOS, ("pause pfc-cos 3", "pause pfc-cos 4")),
    # What another class is paused for is no pause of this one.
    one((26, (None, 4)), NXOS, ("set qos-group 3", "set qos-group 4"), ("pause pfc-cos 3", "pause pfc-cos 4")),
    one((26, None), NXOS, ("match-any ROCE\n", "match-all ROCE\n  match cos 3\n")),
    # Which class is paused is not known: that of RoCE may be another.
    one((26, None), NXOS, ("class type network-qos c-8q-nq3", "class type network-qos OURS")),
    one((26, None), NXOS, ("match-any ROCE\n  match dscp 26\n", "match-any ROCE\n")),
    one((26, (0, 0)), NXOS, ("    set qos-group 3\n", "    set cos 3\n")),
    one((26, (3, 3)), NXOS, ("c-8q-nq3", "c-nq3"), ("c-out-8q-q3", "c-out-q3")),
    one(("ecn", {3}), NXOS),
    one(("ecn", set()), NXOS, ("weight 0 ecn", "weight 0")),
    one(("ecn", {3}), NXOS, ("c-out-8q-q3", "OURS"),
        ("system qos\n", "class-map type queuing match-any OURS\n  match qos-group 3\nsystem qos\n")),
    one(("ecn", None), NXOS, ("c-out-8q-q3", "OURS")),
    one(("ecn", None), NXOS, ("queuing output QOS_EGRESS", "queuing output OTHER")),
    one(("ecn", set()), NXOS, ("queuing output QOS_EGRESS", "queuing output default-out-policy")),
    one(("ecn", {3}), NXOS, ("    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes"
        " drop-probability 7 weight 0 ecn", "    random-detect threshold burst-optimized ecn")),
    one(("mtu", 9216), NXOS),
    one(("mtu", None), NXOS, port="Ethernet1/3"),
    one(("mtu", 1500), NXOS, ("    mtu 9216\n", ""), port="Ethernet1/3"),
    one(("mtu", 9216), NXOS, port="Ethernet1/4"),
    one(("watchdog", True), NXOS),
    one(("watchdog", False), NXOS, port="Ethernet1/4"),
    one(("watchdog", False), NXOS, ("\npriority-flow-control watch-dog-interval on", "")),
    pfc((3,), EOS),
    pfc((3,), EOS, ("priority-flow-control on", "priority-flow-control mode on")),
    pfc((), EOS, port="Ethernet3/1"),
    pfc((3,), EOS, port="Ethernet2/1"),
    pfc((), EOS, ("   priority-flow-control on\n", "")),
    pfc((), EOS, ("priority 3 no-drop", "priority 3 drop")),
    pfc((3, 4), EOS, ("   service-profile", "   priority-flow-control priority 4 no-drop\n   service-profile")),
    pfc((), EOS, ("   service-profile", "   priority-flow-control priority 3 drop\n   service-profile")),
    pfc((), EOS, ("   service-profile", "   no priority-flow-control\n   service-profile")),
    pfc((), EOS, ("qos map dscp 26", "priority-flow-control all off\nqos map dscp 26")),
    one(("trust", {"dscp"}), EOS),
    one(("trust", {"pcp"}), EOS, port="Ethernet3/1"),
    one(("trust", {"dscp"}), EOS, ("vlan 10\n!\nqos", "switchport default mode routed\n!\nqos"), port="Ethernet3/1"),
    one(("trust", {"dscp"}), EOS, ("ROCE\n   qos trust dscp\n", "ROCE\n")),
    one(("trust", set()), EOS, ("ROCE\n   qos trust dscp\n", "ROCE\n   no qos trust\n")),
    one(("trust", {"dscp"}), EOS, port="Ethernet4/1"),
    one(("trust", None), EOS, ("   service-profile", "   service-policy type qos input X\n   service-profile")),
    one((26, (3, 3)), EOS),
    one((24, (3, 3)), EOS),
    one((48, (6, 6)), EOS),
    one((0, (1, None)), EOS),
    one((8, (0, None)), EOS),
    one((26, (4, 4)), EOS, ("26 to traffic-class 3", "18 20 22 26 to traffic-class 4 drop-precedence 2")),
    one((26, (3, 5)), EOS, ("traffic-class 6 to tx-queue 6", "traffic-class 2 3 to uc-tx-queue 5")),
    one((26, (3, 3)), EOS, ("traffic-class 6 to tx-queue 6", "traffic-class 3 to dscp 0")),
    one((26, None), EOS, ("traffic-class 6 to tx-queue 6", "traffic-class 3 to priority-group 5")),
    one(("ecn", {3}), EOS),
    one(("ecn", {3}), EOS, port="Ethernet2/1"),
    one(("ecn", set()), EOS, port="Ethernet3/1"),
    one(("ecn", set(range(8))), EOS,
        ("vlan 10\n!\nqos", "qos random-detect ecn global-buffer minimum-threshold 1 kbytes\n!\nqos"),
        port="Ethernet3/1"),
    one(("mtu", 9214), EOS),
    one(("mtu", 1500), EOS, ("   mtu 9214\n", "")),
    one(("mtu", 9000), EOS, ("   mtu 9214\n", ""), ("vlan 10\n!\nqos", "interface defaults\n   mtu 9000\n!\nqos")),
    one(("mtu", 9214), EOS, port="Ethernet3/1"),
    one(("mtu", 2000), EOS, ("interface Ethernet3/1\n", "interface Ethernet3/1\n   l2 mtu 2000\n"), port="Ethernet3/1"),
    one(("watchdog", True), EOS),
    one(("watchdog", False), EOS, ("timeout 0.20", "timeout 0")),
    one(("watchdog", False), EOS, ("priority-flow-control pause watchdog default timeout 0.20\n", "")),
    one(("watchdog", False), EOS,
        ("   service-profile", "   no priority-flow-control pause watchdog\n   service-profile")),
    one(("watchdog", True), EOS, ("priority-flow-control pause watchdog default timeout 0.20\n", ""),
        ("   service-profile", "   priority-flow-control pause watchdog port timer timeout 0.05 polling-interval auto"
         "\n   service-profile")),
    one(("watchdog", False), EOS, ("watchdog action drop", "watchdog action notify-only")),
    pfc((3,), ONYX, port="Eth1/3"),
    pfc((), ONYX, port="Eth1/1", roce=ROCE.replace("PFC              : enabled", "PFC              : disabled")),
    pfc(None, ONYX, port="Eth1/1", roce=ROCE.replace("switch-priority 3: enabled\n", "")),
    pfc((), ONYX, port="Eth1/1", roce=ROCE.replace(": lossless", ": lossy")),
    pfc(None, ONYX, port="Eth1/1", roce=ROCE.replace("N/A\n", "Eth1/1: PFC disabled\n")),
    pfc(None, ONYX, ('1/1 description "node1 eth0"', "1/1 dcb priority-flow-control mode off force"), port="Eth1/1"),
    pfc((3,), ONYX, ('1/1 description "node1 eth0"', "1/1 dcb priority-flow-control mode off force"), port="Eth1/2"),
    one(("trust", {"dscp"}), ONYX, port="Eth1/1"),
    one(("trust", {"dscp", "pcp"}), ONYX, ('1/1 description "node1 eth0"', "1/1 qos trust both"), port="Eth1/1"),
    one(("trust", {"pcp"}), ONYX, ('1/1 description "node1 eth0"', "1/1 qos trust L2"), port="Eth1/1"),
    one(("trust", set()), ONYX, port="Eth1/1", roce=ROCE.replace("mode: L3", "mode: port")),
    one((26, (3, 3)), ONYX, port="Eth1/1"),
    one((48, (6, 6)), ONYX, port="Eth1/1"),
    one((0, (0, None)), ONYX, port="Eth1/1"),
    one((40, (5, None)), ONYX, port="Eth1/1"),
    one((26, None), ONYX, ('1/1 description "node1 eth0"', "1/1 qos map dscp 26 to switch-priority 4"), port="Eth1/1"),
    one(("ecn", {3}), ONYX, port="Eth1/1"),
    one(("ecn", set()), ONYX, port="Eth1/1", roce=ROCE.replace("ecn, absolute", "red, absolute")),
    one(("mtu", 9216), ONYX, port="Eth1/2"),
    one(("mtu", 1500), ONYX, port="Eth1/4"),
    one(("mtu", None), ONYX, ("switchport access vlan 10", "mlag-channel-group 7 mode active"), port="Eth1/4"),
    one(("mtu", 9216), ONYX, ("switchport access vlan 10", "mlag-channel-group 7 mode active"), port="Eth1/2"),
    one(("watchdog", None), ONYX, port="Eth1/1"),
    pfc((3,), ONYX, HAND, port="Eth1/1", roce=OFF),
    pfc(None, ONYX, HAND, port="Eth1/3", roce=OFF),
    pfc((), ONYX, HAND, ("control enable force", "control disable force"), port="Eth1/1", roce=OFF),
    pfc((), ONYX, HAND, ("priority 3 enable", "priority 3 disable"), port="Eth1/1", roce=OFF),
    pfc((), ONYX, HAND, ("mode on", "mode off"), port="Eth1/1", roce=OFF),
    pfc(None, ONYX, HAND, ("mode on", "mode auto"), port="Eth1/1", roce=OFF),
    pfc((), ONYX, port="Eth1/1", roce=OFF),
    one(("trust", {"dscp"}), ONYX, HAND, port="Eth1/1", roce=OFF),
    one(("trust", {"pcp"}), ONYX, HAND, port="Eth1/3", roce=OFF),
    one(("ecn", {3}), ONYX, HAND, port="Eth1/1", roce=OFF),
    one(("ecn", {3}), ONYX, HAND, ("control ecn", "control both"), port="Eth1/1", roce=OFF),
    one(("ecn", set()), ONYX, HAND, ("control ecn", "control red"), port="Eth1/1", roce=OFF),
    one(("ecn", set()), ONYX, HAND, port="Eth1/3", roce=OFF),
    one(("ecn", None), ONYX, HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/3",
        roce=OFF),
    one(("trust", None), ONYX, HAND, ("switchport access vlan 10", "channel-group 7 mode active"), port="Eth1/3",
        roce=OFF),
    one((26, (3, 3)), ONYX, HAND, port="Eth1/1", roce=OFF),
    one((48, (6, 6)), ONYX, HAND, port="Eth1/1", roce=OFF),
    one((26, None), ONYX, HAND, ("ethernet 1/3 pfc-wd", "ethernet 1/3 qos map dscp 26 to switch-priority 4"),
        port="Eth1/3", roce=OFF),
    one((26, None), ONYX, HAND, ("ethernet 1/3 pfc-wd", "ethernet 1/3 traffic-class 3 bind switch-priority 4"),
        port="Eth1/3", roce=OFF),
    one(("mtu", 9216), ONYX, HAND, port="Eth1/1", roce=OFF),
]  # fmt: skip


@pytest.mark.parametrize(("told", "text", "changes", "port", "more"), WHOLE)
def test_what_a_configuration_tells_of_a_port(
    told: tuple[Any, Any], text: str, changes: tuple[tuple[str, str], ...], port: str, more: dict[str, str]
) -> None:
    parse: Any = {NXOS: read_nxos, EOS: read_eos, ONYX: read_onyx}[text]
    found: SwitchPort = parse(bent(text, *changes), **more)[port]
    what, value = told
    fact = found.classes if isinstance(what, int) else getattr(found, what)
    if isinstance(what, int) and value is not None:
        led = (found.classes.value or {})[what]
        assert (led.priority, led.queue) == value
        assert led.line
    else:
        assert fact.value == value
        assert fact.why if value is None else fact.line


@pytest.mark.parametrize("text", [NXOS, EOS])
def test_what_greets_people_is_no_configuration(text: str) -> None:
    parse = read_nxos if text is NXOS else read_eos
    assert "no place for you" in text
    assert not any("place" in name for name in parse(text))


def test_ports_have_the_names_that_others_call_them_by() -> None:
    assert read_nxos(NXOS)["Ethernet1/1"].names == {"ethernet1/1", "eth1/1"}
    assert read_eos(EOS)["Ethernet1/1"].names == {"ethernet1/1", "et1/1"}
    assert {"eth1/1", "ethernet 1/1", "1/1"} <= read_onyx(ONYX)["Eth1/1"].names
    assert set(read_onyx(ONYX)) == {f"Eth1/{at}" for at in range(1, 5)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NXOS, "pause pfc-cos 3"),
        (EOS, "priority-flow-control priority 3 no-drop"),
        (ONYX, "switch-priority 3: enabled"),
    ],
)
def test_the_line_that_tells_is_quoted(text: str, said: str) -> None:
    parse: Any = {NXOS: read_nxos, EOS: read_eos, ONYX: read_onyx}[text]
    line = parse(text)["Eth1/1" if text is ONYX else "Ethernet1/1"].pfc.line
    number = int(line.rpartition(f": {said}")[0].rpartition(" ")[2])
    assert (ROCE if text is ONYX else text).splitlines()[number - 1].strip() == said


FILES: dict[str, tuple[dict[str, str], str]] = {
    "another command": ({RUNNING: NXOS.replace("running-config\n", "running-config interface Ethernet1/1\n", 1)},
                        "no head of `show running-config`"),
    "with defaults": ({RUNNING: NXOS.replace("running-config\n", "running-config all\n", 1)}, "no head"),
    "no system": ({RUNNING: "version 12.4\nhostname leaf1\n"}, "no head of `show running-config` of Cisco NX-OS"),
    "empty": ({RUNNING: ""}, "no head"),
    "two heads": ({RUNNING: NXOS + NXOS}, "several heads"),
    "another switch": ({RUNNING: NXOS.replace("hostname leaf1", "hostname leaf9")}, "calls itself leaf9"),
    "another EOS switch": ({RUNNING: EOS.replace("hostname leaf1", "hostname leaf9")}, "calls itself leaf9"),
    "another Onyx switch": ({RUNNING: ONYX.replace("leaf1", "leaf9"), SHOW_ROCE: ROCE}, "calls itself leaf9"),
    "no show roce": ({RUNNING: ONYX}, "hand in show_roce.txt (`show roce`)"),
    "show roce alone": ({SHOW_ROCE: ROCE}, "hand in show_running-config.txt"),
    "show roce of another": ({RUNNING: EOS, SHOW_ROCE: ROCE}, "texts of two systems"),
    "a table of another": ({RUNNING: EOS, NEGOTIATED: TABLE}, "texts of two systems"),
    "a table alone": ({NEGOTIATED: TABLE}, "hand in show_running-config.txt"),
    "no ports": ({RUNNING: NXOS.replace("interface Ethernet", "interface Fast").replace("port-channel7", "vlan7")},
                 "no interface Ethernet"),
    "nested": ({RUNNING: NXOS.replace("vlan 1,10\n", "".join(" " * at + "x\n" for at in range(20)))},
               "nested too deep"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_texts_that_do_not_belong_together_are_an_error(tmp_path: Path, name: str) -> None:
    files, why = FILES[name]
    made.write(tmp_path, {"leaf1": files})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert [why in error for error in handed.errors] == [True], handed.errors


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


@EACH
@pytest.mark.parametrize("long", ["A" + " " * 300_000, "   " + "1 " * 150_000, "x" * 300_000, " " * 300_000])
def test_a_line_of_any_length_ends_no_reader(parser: str, long: str) -> None:
    lines = PARSERS[parser][1].splitlines(keepends=True)
    half = len(lines) // 2
    read(parser, "".join([*lines[:half], long, "x\n", *lines[half:]]))


@pytest.mark.parametrize("parser", ["nxos", "eos", "onyx"])
def test_no_error_quotes_a_password(tmp_path: Path, parser: str) -> None:
    """Of a configuration that was cut behind or within its line, or lost its head."""
    whole = f"username x password 5 $5$SECRET\n{PARSERS[parser][1]}"
    lines = whole.splitlines(keepends=True)
    head = next(at for at, line in enumerate(lines) if "running" in line.lower())
    secret = "username y password 5 $5$SECRET"
    parts = [
        f"{''.join(lines[:at])}{secret}{end}" for at in range(head + 1, len(lines)) for end in ("", "\n", " --More--\n")
    ]
    for part in [*parts, "".join([secret, "\n", *lines[head + 1 :]])]:
        made.write(tmp_path, {"leaf1": {RUNNING: part, **({SHOW_ROCE: ROCE} if parser == "onyx" else {})}})
        handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
        assert handed is not None
        # Behind its last lines a text is whole.
        assert len(handed.errors) == 1 or part in parts[-15:]
        assert "SECRET" not in str(handed.errors)
