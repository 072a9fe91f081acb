# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import WIDE, area as fabric
from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric.facts import Answer, FabricFacts
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._data.fabric_counters import CHECKS, COUNTERS
from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import NOT_THIS_LINK, QUERIED
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    DEGRADED,
    FAIL,
    NOT_READY,
    PASS,
    READY,
    SKIP,
    UNKNOWN,
    UNKNOWN_VERDICT,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    ibhosts,
    iblinkinfo,
    ibnetdiscover,
    ibping,
    ibqueryerrors,
    sminfo,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

HCA_LINE = """\
CA: gpu-a1 mlx5_3:
      0x0200000000010001     23    1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>70 12[ ] "leaf-1" ( )
"""
LEAF_LINES = """\
Switch: 0x0000000000200001 leaf-1:
          70   12[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 23 1[  ] "gpu-a1 mlx5_3" ( )
          70   14[  ] ==(            Down/ Polling)==>             [  ] "" ( )
"""
LINKS = HCA_LINE + LEAF_LINES
FABRIC = """\
# Initiated from node 0200000000010000 port 0200000000010001
vendid=0x2c9
Switch\t2 "S-0000000000200001"\t\t# "leaf-1" enhanced port 0 lid 70 lmc 0
[12]\t"H-0200000000010000"[1](200000000010001) \t\t# "gpu-a1 mlx5_3" lid 23 4xNDR
vendid=0x2c9
Ca\t1 "H-0200000000010000"\t\t# "gpu-a1 mlx5_3"
[1](200000000010001) \t"S-0000000000200001"[12]\t\t# lid 23 lmc 0 "leaf-1" lid 70 4xNDR
"""
ALONE = """\
# Initiated from node 0200000000010000 port 0200000000010001
vendid=0x2c9
Ca\t1 "H-0200000000010000"\t\t# "gpu-a1 mlx5_3"
"""
SUMMARY = """
## Summary: 6 nodes checked, {bad} bad nodes found
##          70 ports checked, {bad} ports have errors beyond threshold
"""
CLEAN = SUMMARY.format(bad=0)
SM = "sminfo: sm lid 1 sm guid 0x10000d, activity count 242 priority 0 state 3 SMINFO_MASTER\n"
PING = """
--- node2.(none) (Lid 4) ibping statistics ---
200 packets transmitted, 200 received, 0% packet loss, time 2 ms
rtt min/avg/max = 0.008/0.010/0.069 ms
"""
PARSERS: dict[str, tuple[str, Any]] = {
    "links": (LINKS, iblinkinfo.parse),
    "discovery": (FABRIC, ibnetdiscover.parse),
    "counters": (CLEAN, ibqueryerrors.parse),
    "hosts": ('Ca\t: 0x0200000000010000 ports 1 "gpu-a1 mlx5_3"\n', ibhosts.parse),
    "sm": (SM, sminfo.parse),
    "ping": (PING, ibping.parse),
}


def facts(**texts: str) -> FabricFacts:
    """Every tool's answer, healthy where no other text is given."""
    return FabricFacts(
        **{name: Reading(Answer(parse(texts.get(name, healthy)))) for name, (healthy, parse) in PARSERS.items()}
    )


def only(name: str, reading: Reading[Any]) -> FabricFacts:
    return replace(FabricFacts(), **{name: reading})


def judge(found: FabricFacts) -> list[Check]:
    return fabric.judge(found, Machine(), Expectations())


def failures(found: FabricFacts) -> list[Check]:
    return [one for one in judge(found) if one.result == FAIL]


def the(check_id: str, checks: list[Check]) -> Check:
    (found,) = [one for one in checks if one.id == check_id]
    return found


def test_a_healthy_fabric_passes_everything() -> None:
    checks = judge(facts())
    assert {one.result for one in checks} == {PASS}
    assert verdict(checks) == READY
    judged_elsewhere = {"fabric.sm.answers", "fabric.ping.tested", "fabric.ping.reachable"}
    judged_elsewhere |= {"fabric.ping.loss", "fabric.tcp.rendezvous", "fabric.tcp.range"}
    judged_elsewhere |= {one for one in CATALOG if ".bench." in one or ".rdma." in one}
    judged_elsewhere |= {one.id for one in WIDE}
    mine = {one for one in CATALOG if one.startswith("fabric.")} - judged_elsewhere
    assert {one.id for one in checks} >= mine


def test_on_a_host_that_was_not_asked_everything_is_skipped() -> None:
    checks = judge(FabricFacts())
    assert {one.result for one in checks} == {SKIP}
    assert {one.cause for one in checks} == {"asked once per fabric, and not of this host"}


@pytest.mark.parametrize("name", PARSERS)
def test_a_tool_that_could_not_ask_fails_and_its_checks_are_unknown(name: str) -> None:
    said = "x: iberror: failed: Failed to open '(null)' port '0'"
    checks = judge(only(name, Reading(Answer(None, (said,)))))
    assert verdict(checks) == NOT_READY
    tool = next(one for one in checks if one.id == "fabric.tool.answered")
    assert (tool.result, tool.observed) == (FAIL, said)
    assert "ib_umad" in tool.cause
    others = {one.result for one in checks if one.id != "fabric.tool.answered"}
    assert others == {SKIP, UNKNOWN}


def test_another_complaint_speaks_for_itself() -> None:
    said = "Query SA failed: Connection timed out; sa call path_query failed"
    tool = failures(only("counters", Reading(Answer(None, (said,)))))[0]
    assert tool.cause == said


@pytest.mark.parametrize("name", PARSERS)
def test_an_unreadable_text_is_unknown(name: str) -> None:
    checks = judge(only(name, Reading(None, "line 2 is cut")))
    assert verdict(checks) in (UNKNOWN_VERDICT, DEGRADED)
    bad = [one for one in checks if one.result != SKIP]
    assert {(one.result, one.cause) for one in bad} == {(UNKNOWN, "line 2 is cut")}
    assert "fabric.tool.answered" in {one.id for one in bad}


@pytest.mark.parametrize("name", PARSERS)
def test_an_incomplete_answer_passes_nothing(name: str) -> None:
    text, parse = PARSERS[name]
    reading = Reading(Answer(parse(text), (), "it ended with status 3"))
    checks = [one for one in judge(only(name, reading)) if one.result != SKIP]
    assert {(one.result, one.cause) for one in checks} == {(UNKNOWN, "it ended with status 3")}


def test_an_incomplete_answer_still_tells_what_is_wrong() -> None:
    text = LINKS.replace("Active", "Initialize")
    reading = Reading(Answer(iblinkinfo.parse(text), (), "it ended with status 3"))
    assert [one.id for one in failures(only("links", reading))] == ["fabric.link.state"]


# Subnet manager


def test_a_subnet_manager_that_does_not_answer_is_no_missing_device() -> None:
    said = ("ibwarn: [8] mad_rpc: _do_madrpc failed; dport (Lid 1)",)
    said += ("sminfo: iberror: failed: query",)
    checks = judge(only("sm", Reading(Answer(None, said))))
    assert the("fabric.sm.master", checks).result == FAIL
    assert the("fabric.tool.answered", checks).result == PASS


def test_an_answer_of_a_release_that_shows_no_state_is_the_master_s() -> None:
    old = "sminfo: sm lid 0x1 sm guid 0x10000d, activity count 7 priority 2\n"
    assert failures(facts(sm=old)) == []
    assert the("fabric.sm.master", judge(facts(sm=old))).result == PASS


def test_a_standby_is_no_master() -> None:
    (bad,) = failures(facts(sm=SM.replace("3 SMINFO_MASTER", "2 SMINFO_STANDBY")))
    assert (bad.id, bad.observed) == ("fabric.sm.master", "SMINFO_STANDBY")
    assert "LID 1" in bad.cause


# Links


def test_a_link_without_routes_fails_once_for_both_its_ends() -> None:
    (bad,) = failures(facts(links=LINKS.replace("Active", "Initialize")))
    assert (bad.id, bad.subject, bad.severity) == (
        *("fabric.link.state", "gpu-a1 mlx5_3/1"),
        "error",
    )
    assert "no subnet manager" in bad.cause


def test_a_switch_port_without_a_cable_is_normal() -> None:
    assert failures(facts(links=LEAF_LINES.replace("Polling", "Disabled"))) == []


def test_a_link_that_does_not_finish_training_is_a_warning() -> None:
    (bad,) = failures(facts(links=LINKS.replace(" Polling", "PortConfigurationTraining")))
    assert (bad.id, bad.subject, bad.severity) == ("fabric.link.training", "leaf-1/14", "warning")


def test_a_link_that_could_be_wider_and_faster() -> None:
    text = LINKS.replace("4X 106.25", "1X 25.78125").replace('" ( )\n', '" (Could be 4X Could be 106.25 Gbps)\n', 2)
    width, speed = failures(facts(links=text))
    assert (width.id, width.observed, width.expected) == ("fabric.link.width", "1X", "4X")
    assert (speed.id, speed.observed, speed.expected) == (
        *("fabric.link.speed", "25.78125 Gbps"),
        "106.25 Gbps",
    )
    assert "gpu-a1 mlx5_3/1 and leaf-1/12" in width.cause
    assert verdict(judge(facts(links=text))) == DEGRADED


def test_without_lids_no_link_is_taken_for_another() -> None:
    bare = LINKS.replace(" 23 ", " 0 ").replace(" 70 ", " 0 ").replace("Active", "Initialize")
    assert len(failures(facts(links=bare))) == 2


# Counters


def counted(counters: str, node: str = '"gpu-a1 mlx5_3"', port: str = "1") -> str:
    bad = SUMMARY.format(bad=int(port != "ALL"))
    return f"Errors for {node}\n   GUID 0x1 port {port}: {counters}\n{bad}"


@pytest.mark.parametrize("name", COUNTERS)
def test_every_counter_fails_above_its_limit_and_not_at_it(name: str) -> None:
    counter = COUNTERS[name]
    at = failures(facts(counters=counted(f"[{name} == {max(1, counter.above)}]")))
    assert at == []
    above = failures(facts(counters=counted(f"[{name} == {counter.above + 1}]")))
    if not counter.check:
        assert above == []
        return
    assert [one.id for one in above] == [counter.check]
    assert above[0].subject == "gpu-a1 mlx5_3/1"
    queried = QUERIED.get(name)
    says = NOT_THIS_LINK + counter.means if queried and queried.remedy else counter.means
    assert (above[0].cause, above[0].severity) == (f"{name}: {says}", "warning")


def test_a_saturated_counter_is_told() -> None:
    bad = failures(facts(counters=counted("[PortRcvErrors == 65535]")))
    assert [(one.id, one.observed) for one in bad] == [
        ("fabric.link.receive_errors", "PortRcvErrors 65535 or more (saturated)")
    ]
    bad = failures(facts(counters=counted("[SymbolErrorCounter == 65535] [PortRcvErrors == 65535]")))
    assert [one.id for one in bad][-1] == "fabric.counters.saturated"


def test_a_wide_counter_of_that_value_still_counts() -> None:
    (bad,) = failures(facts(counters=counted("[PortRcvErrors == 65535 (65.535K)]")))
    assert bad.observed == "PortRcvErrors 65535"


def test_a_switch_is_judged_by_its_ports_and_not_by_their_sum() -> None:
    text = counted("[PortRcvErrors == 60]\n   GUID 0x1 port 4: [PortRcvErrors == 60]", '0x1 "leaf-1"', "ALL")
    assert [one.subject for one in failures(facts(counters=text))] == ["leaf-1/4"]
    lone = counted("[PortRcvErrors == 60]", '0x1 "leaf-1"', "ALL")
    assert [one.subject for one in failures(facts(counters=lone))] == ["leaf-1/ALL"]


def test_two_nodes_of_one_name_are_both_told() -> None:
    text = counted("[PortRcvErrors == 60]\n") + counted("[PortRcvErrors == 70]")
    assert len(failures(facts(counters=text.replace(SUMMARY.format(bad=1), "", 1)))) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(counted("[PortRcvErrors == 1]").partition("\n\n")[0], "no summary", id="cut"),
        pytest.param(SUMMARY.format(bad=2), "0 of 2 ports", id="its ports cut out"),
        pytest.param(counted("[PortRcvErrors == 1]").partition("\n")[2], "belongs to no node", id="no head"),
        pytest.param(counted("[PortRcvErrors == 1] [SymbolErr"), "1 of its lines", id="a counter cut"),
        pytest.param(CLEAN + "##   3 PMA query failures\n", "3 questions", id="unanswered"),
    ],
)
def test_counters_that_nobody_saw_are_unknown(text: str, why: str) -> None:
    checks = judge(facts(counters=text))
    for check_id in (*CHECKS, "fabric.counters.saturated"):
        assert the(check_id, checks).result == UNKNOWN
        assert why in the(check_id, checks).cause


# Discovery


def test_an_adapter_that_finds_only_itself_is_not_connected() -> None:
    (bad,) = failures(facts(discovery=ALONE))
    assert (bad.id, bad.subject, bad.severity) == (
        *("fabric.discovery.neighbours", "gpu-a1 mlx5_3"),
        "error",
    )
    assert "not connected" in bad.cause


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("CA 0 1 0x0200000000010001 4x SDR 'gpu-a1 mlx5_3'\n", id="-p"),
        pytest.param('Ca : 0x1 ports 1 devid 0x1021 vendid 0x2c9 "gpu-a1 mlx5_3"\n', id="-l"),
    ],
)
def test_in_every_format(text: str) -> None:
    assert [one.id for one in failures(facts(discovery=text))] == ["fabric.discovery.neighbours"]


def test_a_list_of_switches_holds_no_hosts() -> None:
    checks = judge(facts(discovery="SW 70 13 0x200001 4x QDR 'leaf-1'\n"))
    assert the("fabric.discovery.neighbours", checks).result == SKIP
    assert the("fabric.discovery.hosts", checks).result == FAIL
    assert verdict(checks) == DEGRADED


def test_a_topology_with_links_of_one_end_was_cut() -> None:
    checks = judge(facts(discovery=FABRIC[: FABRIC.rindex("vendid")]))
    assert next(one for one in checks if one.subject == "ibnetdiscover").result == UNKNOWN
    for check_id in ("fabric.discovery.neighbours", "fabric.discovery.hosts"):
        assert the(check_id, checks).result == UNKNOWN
        assert "1 links are listed from one end" in the(check_id, checks).cause


def test_ibhosts_counts_where_no_discovery_was_recorded() -> None:
    checks = judge(only("hosts", facts().hosts))
    assert the("fabric.discovery.hosts", checks).observed == "1 HCAs"
    assert the("fabric.discovery.neighbours", checks).result == SKIP


NAMED = *(f'"node-{at} mlx5_0"' for at in range(9)), '"MT4129 ConnectX7   Mellanox Technologies"'
SHARP = '"Mellanox Technologies Aggregation Node"'


@pytest.mark.parametrize(
    ("names", "unnamed"),
    [
        pytest.param(
            NAMED, "1 of 10 HCAs are called MT4129 ConnectX7 Mellanox Technologies", id="one host has no name"
        ),
        pytest.param((*NAMED[:-1], SHARP), "", id="what switches put there"),
        pytest.param((NAMED[-1], NAMED[-1], SHARP), "", id="no host of the site names its HCAs"),
        pytest.param(NAMED[2:], "", id="an eighth of the site does not name its HCAs"),
    ],
)
def test_an_hca_that_still_has_the_name_of_its_firmware_is_told(names: tuple[str, ...], unnamed: str) -> None:
    text = "".join(f"Ca : 0x{at} ports 1 devid 0x1021 vendid 0x2c9 {name}\n" for at, name in enumerate(names, 1))
    check = the("fabric.discovery.hosts", judge(facts(discovery=text)))
    assert check.result == (FAIL if unnamed else PASS)
    if unnamed:
        assert check.observed == unnamed
        assert "rdma-ndd" in check.cause
        assert "rdma-ndd" in check.remedy
        # Its unit has no [Install] section: udev starts it.
        assert "udevadm trigger" in check.remedy
        assert "enable" not in check.remedy


# Pings


def pinged(counts: str, rtt: str) -> FabricFacts:
    return facts(ping=f"\n--- n (Lid 4) ibping statistics ---\n{counts}, time 9 ms\nrtt min/avg/max = {rtt} ms\n")


def test_nobody_answers_although_ibping_ends_with_status_0() -> None:
    found = pinged("3 packets transmitted, 0 received, 100% packet loss", "0.000/0.000/0.000")
    (bad,) = failures(found)
    assert (bad.id, bad.subject, bad.observed) == ("fabric.ping.recorded", "Lid 4", "3 of 3 lost")
    assert the("fabric.ping.retried", judge(found)).result == SKIP


def test_some_are_lost() -> None:
    found = pinged("8 packets transmitted, 4 received, 50% packet loss", "0.033/0.037/0.041")
    assert [one.observed for one in failures(found)] == ["4 of 8 lost"]
    assert the("fabric.ping.retried", judge(found)).result == PASS


def test_one_that_was_under_way_is_not_lost() -> None:
    found = pinged("10 packets transmitted, 9 received, 0% packet loss", "0.033/0.037/0.041")
    assert failures(found) == []


def test_a_late_answer_was_lost_and_sent_again() -> None:
    found = pinged("10000 packets transmitted, 10000 received, 0% packet loss", "0.03/0.70/900.08")
    (bad,) = failures(found)
    assert (bad.id, bad.severity) == ("fabric.ping.retried", "warning")
    assert "900.08 ms" in bad.cause


@pytest.mark.parametrize(
    ("links", "why"),
    [
        pytest.param(HCA_LINE, "1 links are listed from one end only", id="a switch"),
        pytest.param(LEAF_LINES, "1 links are listed from one end only", id="an HCA"),
        pytest.param("".join(LINKS.splitlines(keepends=True)[:-1]), "1 of 2 ports of leaf-1", id="a port"),
    ],
)
def test_a_list_of_links_that_ends_early_passes_nothing(links: str, why: str) -> None:
    found = judge(facts(links=links))
    for check_id in ("state", "training", "width", "speed"):
        reported = the(f"fabric.link.{check_id}", found)
        assert (reported.result, why in reported.cause) == (UNKNOWN, True)


def test_a_discovery_without_the_hca_that_asked_ends_early() -> None:
    switch = FABRIC[: FABRIC.index("[12]")]
    reported = {one.id: one for one in judge(facts(discovery=switch))}
    assert reported["fabric.discovery.neighbours"].result == UNKNOWN


def test_pings_without_their_last_line_are_not_skipped() -> None:
    cut = PING[: PING.index("rtt")]
    reported = {one.id: one for one in judge(facts(ping=cut))}
    assert reported["fabric.ping.retried"].result == UNKNOWN
