# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranking and folding over hand-made reports."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import Diagnosis, diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.render import render

RAILS = 8


def fail(check_id: str, subject: str = "host", observed: str = "seen", **more: str) -> Check:
    given = {"expected": "well", "expected_from": "capability", "cause": "so", "remedy": "fix"}
    return Check(check_id, subject, "fail", "error", observed, **{**given, **more})


def blind(check_id: str, subject: str = "host", why: str = "no look") -> Check:
    return Check(check_id, subject, "unknown", "error", cause=why, remedy="look again")


def report(**hosts: Sequence[Check]) -> dict[str, Any]:
    """Hosts with eight rails each, and these checks beside."""
    rails = [Check("ib.port.state", f"mlx5_{at}/1", "pass", "error", "Active") for at in range(RAILS)]
    facts = {
        "ib": {"devices": {f"mlx5_{at}": {"address": f"0000:{at}5:00.0"} for at in range(RAILS)}},
        "gpu": {"gpus": [{"address": f"0000:{at}3:00.0"} for at in range(RAILS)]},
        "node": {},
    }
    return {
        "simulated": "",
        "pings": [],
        "hosts": {
            name: {
                "verdict": "not_ready",
                "facts": facts,
                "checks": [
                    *(
                        one.to_dict()
                        for one in rails
                        if one.subject not in {two.subject for two in mine if two.id == "ib.port.state"}
                    ),
                    *(one.to_dict() for one in mine),
                ],
            }
            for name, mine in hosts.items()
        },
    }


def ids(found: Diagnosis) -> list[str]:
    return [one.id for one in found.causes]


DOWN = fail("ib.port.state", "mlx5_3/1", "Down")


@pytest.mark.parametrize(
    ("checks", "order"),
    [
        pytest.param(
            [fail("host.cpu.governor"), fail("pci.bridge.acs"), fail("host.limit.memlock")],
            ["host.memlock", "path.acs", "host.governor"],
            id="what stops a job before what slows it before what jitters",
        ),
        pytest.param(
            [DOWN, fail("ib.port.rate", "mlx5_4/1", "200 Gb/s", expected="400 Gb/s")],
            ["rail.slow", "rail.down"],
            id="half of every rail before one of eight",
        ),
        pytest.param(
            [DOWN, fail("ib.port.rate", "mlx5_4/1", "390 Gb/s", expected="400 Gb/s")],
            ["rail.down", "rail.slow"],
            id="one of eight before a fortieth of every rail",
        ),
        pytest.param(
            [fail("pci.link.width", "0000:35:00.0", "x4", expected="x16"), fail("pci.bridge.acs")],
            ["pcie.link", "path.acs"],
            id="a quarter of the lanes before a detour",
        ),
        pytest.param(
            [
                fail("pci.link.width", "0000:35:00.0", "x8", expected="x16"),
                fail("pci.link.speed", "0000:35:00.0", "16 GT/s", expected="32 GT/s"),
                fail("stack.gpudirect.path"),
            ],
            ["gdr.no_path", "pcie.link"],
            id="the worse of speed and width counts, not both of one link twice",
        ),
        pytest.param(
            [fail("gpu.power.limit", "0000:33:00.0", "350 W", expected="700 W"), DOWN],
            ["gpu.power_limit", "rail.down"],
            id="half of the power",
        ),
    ],
)
def test_causes_are_ordered_by_what_they_cost(checks: list[Check], order: list[str]) -> None:
    assert ids(diagnose(report(n1=checks, n2=[], n3=[]))) == order


def test_of_two_that_cost_the_same_the_one_with_more_hosts_goes_first() -> None:
    one, two = fail("pci.bridge.acs"), fail("host.kernel.iommu")
    found = diagnose(report(n1=[one, two], n2=[two], n3=[]))
    assert ids(found) == ["path.iommu", "path.acs"]
    assert [list(cause.hosts) for cause in found.causes] == [["n1", "n2"], ["n1"]]


def test_the_ranks_do_not_hang_on_the_order_of_the_report() -> None:
    checks = [
        DOWN,
        fail("host.limit.memlock"),
        fail("pci.bridge.acs"),
        fail("host.kernel.iommu"),
        fail("nvlink.link.state", "GPU 3"),
        fail("gpu.clocks.throttle", "0000:33:00.0"),
        fail("nccl.log.errors", "nccl_log", "wc_status_12 in n1, over mlx5_3, with n2"),
    ]
    others = [fail("pci.bridge.acs"), fail("host.cpu.governor")]
    first = ids(diagnose(report(n1=checks, n2=others, n3=[])))
    for seed in range(20):
        mixed = list(checks)
        random.Random(seed).shuffle(mixed)
        found = diagnose(report(n1=mixed, n2=others, n3=[]))
        assert ids(found) == first
        assert json.dumps(found.to_dict()) == json.dumps(diagnose(report(n1=mixed, n2=others, n3=[])).to_dict())


def test_a_symptom_of_the_same_port_is_folded_and_one_of_another_is_not() -> None:
    rising = fail("ib.port.errors", "mlx5_3/1")
    other = fail("ib.port.errors", "mlx5_4/1")
    found = diagnose(report(n1=[DOWN, rising, other]))
    assert ids(found) == ["rail.down", "rail.errors"]
    assert [one.check.subject for one in found.causes[0].explains] == ["mlx5_3/1"]
    assert list(found.causes[1].subjects) == ["mlx5_4/1"]


def test_what_explains_another_in_part_stands_above_it_whatever_it_costs() -> None:
    link = fail("pci.link.width", "0000:35:00.0", "x14", expected="x16")
    slots = [
        fail("pci.hca.slot", "0000:35:00.0", "390 Gb/s", expected="400 Gb/s"),
        fail("pci.hca.slot", "0000:45:00.0", "100 Gb/s", expected="400 Gb/s"),
    ]
    found = diagnose(report(n1=[link, *slots], n2=[]))
    assert [(one.id, one.loss) for one in found.causes] == [
        ("pcie.link", 0.125),
        ("pcie.slot", 0.75),
    ]
    assert list(found.causes[1].subjects) == ["0000:45:00.0"]


def test_a_sick_port_explains_the_peer_s_lost_pings_on_that_rail() -> None:
    mine = [fail("ib.port.errors", "mlx5_3/1"), fail("fabric.ping.loss", "mlx5_3/1")]
    found = diagnose(report(n1=mine, n2=[fail("fabric.ping.loss", "mlx5_3/1")]))
    assert ids(found) == ["rail.errors"]
    assert {one.host for one in found.causes[0].explains} == {"n1", "n2"}


def test_a_chain_of_causes_is_one_with_the_deepest_at_its_root() -> None:
    checks = [
        fail("stack.kmod.built", "mlx5_core"),
        fail("host.module.rdma", observed="mlx5_ib not loaded"),
        fail("ib.hca.present", observed="none"),
    ]
    job = {"n1": [fail("nccl.log.network", "nccl_log", "TCP: rank 0")]}
    found = diagnose(report(n1=checks, n2=[]), job)
    assert ids(found) == ["kmod.rdma"]
    assert [one.check.id for one in found.causes[0].explains] == [
        "host.module.rdma",
        "ib.hca.present",
        "nccl.log.network",
    ]
    assert found.causes[0].effect == "tcp"


def test_all_rails_down_explain_a_job_over_tcp_and_some_do_not() -> None:
    job = {"the job": [fail("nccl.log.network", "nccl_log", "TCP: rank 0")]}
    some = [fail("ib.port.state", f"mlx5_{at}/1", "Down") for at in range(3)]
    every = [fail("ib.port.state", f"mlx5_{at}/1", "Down") for at in range(RAILS)]
    assert ids(diagnose(report(n1=some), job)) == ["job.tcp", "rail.down"]
    found = diagnose(report(n1=every), job)
    assert ids(found) == ["rail.down"]
    assert found.causes[0].loss == 1.0


def test_a_completion_is_explained_by_the_port_that_it_names_alone() -> None:
    job = {"n2": [fail("nccl.log.errors", "nccl_log", "wc_status_12 in n2:1, over mlx5_3, with n1")]}
    assert ids(diagnose(report(n1=[DOWN], n2=[]), job)) == ["rail.down"]
    other = fail("ib.port.state", "mlx5_4/1", "Down")
    assert ids(diagnose(report(n1=[other], n2=[]), job)) == ["job.peer_silent", "rail.down"]


def test_a_dead_subnet_manager_is_the_cause_of_ports_that_nobody_set_up() -> None:
    mine = [
        fail("fabric.sm.answers", "mlx5_0/1", "no answer"),
        fail("ib.port.state", "mlx5_3/1", "Initializing"),
        fail("ib.port.lid", "mlx5_3/1"),
        blind("fleet.sm.single", "mlx5_0/1"),
    ]
    found = diagnose(report(n1=mine, n2=[fail("fabric.sm.answers", "mlx5_0/1", "no answer")]))
    assert ids(found) == ["sm.dead"]
    assert list(found.causes[0].hosts) == ["n1", "n2"]
    assert [one.check.id for one in found.causes[0].hides] == ["fleet.sm.single"]


def test_a_lossy_way_explains_a_subnet_manager_that_does_not_answer_through_it() -> None:
    mine = [
        fail("fabric.ping.loss", "mlx5_1/1", "50 % lost"),
        fail("fabric.sm.answers", "mlx5_1/1", "timed out"),
        blind("fleet.sm.single", "mlx5_1/1"),
        blind("fleet.port.lid_unique", "mlx5_1/1"),
    ]
    found = diagnose(report(n1=mine, n2=[]))
    assert ids(found) == ["fabric.loss"]
    assert found.unknown == []


def test_unknowns_are_no_causes_and_never_healthy() -> None:
    nothing = diagnose(report(n1=[blind("gpu.driver.answers", why="timeout")]))
    assert ids(nothing) == []
    assert "not an all-clear" in nothing.answer
    assert [(one.why, one.next) for one in nothing.unknown] == [("timeout", "look again")]
    assert "every check could look" in diagnose(report(n1=[], n2=[])).answer


def test_unknowns_of_one_reason_are_told_once() -> None:
    both = [blind("nvlink.link.state"), blind("nvlink.link.speed")]
    found = diagnose(report(n1=both, n2=both, n3=[blind("ib.port.mtu", why="other")]))
    assert [(list(one.checks), list(one.hosts)) for one in found.unknown] == [
        (["nvlink.link.speed", "nvlink.link.state"], ["n1", "n2"]),
        (["ib.port.mtu"], ["n3"]),
    ]


def test_what_a_cause_hides_is_told_with_it_and_not_again() -> None:
    mine = [fail("gpu.driver.answers"), blind("nvlink.link.state"), blind("ib.port.mtu")]
    found = diagnose(report(n1=mine))
    assert [one.check.id for one in found.causes[0].hides] == ["nvlink.link.state"]
    assert [list(one.checks) for one in found.unknown] == [["ib.port.mtu"]]


def test_a_warning_that_hides_errors_stands_among_the_errors() -> None:
    umad = dataclasses.replace(fail("host.module.rdma_user"), severity="warning")
    mine = [umad, blind("ib.tool.ibstat"), blind("fabric.sm.answers", "mlx5_0/1")]
    slow = dataclasses.replace(fail("pci.bridge.acs"), severity="warning")
    found = diagnose(report(n1=mine, n2=[slow]))
    assert [(one.id, one.error) for one in found.causes] == [("rdma.umad", True), ("path.acs", False)]
    alone = diagnose(report(n1=[umad], n2=[slow]))
    assert [(one.id, one.error) for one in alone.causes] == [("path.acs", False), ("rdma.umad", False)]
    as_warnings = [dataclasses.replace(one, severity="warning") for one in mine]
    assert not any(one.error for one in diagnose(report(n1=as_warnings, n2=[slow])).causes)


def test_a_report_of_nobody_is_no_diagnosis() -> None:
    empty = {"simulated": "", "pings": [], "hosts": {}}
    assert diagnose(empty).looked == []
    gone = report(n1=[blind("host.access.reachable", why="unreachable by ssh")])
    gone["hosts"]["n1"]["checks"] = gone["hosts"]["n1"]["checks"][-1:]
    found = diagnose(gone)
    assert (found.looked, ids(found)) == ([], ["host.no_answer"])
    assert found.answer == "no host could be checked: nothing is known"


def gone(name: str, address: str) -> Check:
    why, remedy = f"unreachable by ssh: no route to {address}", f"try `ssh {address}`"
    return dataclasses.replace(blind("host.access.reachable", why=why), remedy=remedy, evidence={"address": address})


def test_a_host_that_does_not_answer_is_a_cause_by_name_with_its_next_step() -> None:
    tool = [blind(check, why="libibnetdisc: mad failed") for check in ("fabric.link.state", "fabric.link.width")]
    (cause,) = (found := diagnose(report(n1=tool, n2=[gone("n2", "10.0.0.2")]))).causes
    assert (cause.id, list(cause.hosts), cause.mends, cause.error) == ("host.no_answer", ["n2"], False, True)
    assert (cause.note, list(cause.acts)) == ("try `ssh 10.0.0.2`", [])
    assert [one.why for one in found.unknown] == ["libibnetdisc: mad failed"]
    text = render(found)
    assert text.startswith("DIAGNOSIS: 1 cause, ")
    assert "where:    n2 (1 of 2 hosts)" in text
    assert "by hand:  try `ssh 10.0.0.2`" in text


def test_hosts_that_are_gone_for_one_reason_are_one_cause_and_for_another_another() -> None:
    lost = [gone(f"n{at}", f"10.0.0.{at}") for at in (1, 2)]
    (cause,) = diagnose(report(n1=[lost[0]], n2=[lost[1]])).causes
    assert (list(cause.hosts), cause.note) == (["n1", "n2"], "try `ssh 10.0.0.1` (so for n1)")
    root = blind("host.access.reachable", why="the module did not run as root")
    assert ids(diagnose(report(n1=[lost[0]], n2=[root]))) == ["host.no_answer"] * 2


def lossy(peer: str, rail: int = 3, check: str = "fabric.ping.loss") -> Check:
    return fail(check, f"mlx5_{rail}/1", f"50 % lost in 1 of 9 pairs ({peer})", expected="0 %")


@pytest.mark.parametrize(
    ("check", "cause"), [("fabric.ping.loss", "fabric.loss"), ("fabric.ping.reachable", "fabric.unreachable")]
)
def test_a_pair_that_fails_is_one_cause_and_two_pairs_are_two(check: str, cause: str) -> None:
    pair = {"n1": [lossy("n2", check=check)], "n2": [lossy("n1", check=check)]}
    found = diagnose(report(**pair, n3=[], n4=[]))
    assert [(one.id, list(one.hosts)) for one in found.causes] == [(cause, ["n1", "n2"])]
    pairs = {**pair, "n3": [lossy("n4", check=check)], "n4": [lossy("n3", check=check)]}
    found = diagnose(report(**pairs))
    assert [(one.id, list(one.hosts)) for one in found.causes] == [(cause, ["n1", "n2"]), (cause, ["n3", "n4"])]
    # One that names another of which nothing is wrong is alone.
    assert [list(one.hosts) for one in diagnose(report(n1=[lossy("n3")], n2=[lossy("n4")], n3=[], n4=[])).causes] == [
        ["n1"],
        ["n2"],
    ]


def test_a_pair_between_which_no_data_arrives_is_one_cause() -> None:
    said = "no data: n1 to n2; client: timed out"
    pair = {name: [fail("fabric.rdma.verbs", "mlx5_3/1", said)] for name in ("n1", "n2")}
    assert [list(one.hosts) for one in diagnose(report(**pair)).causes] == [["n1", "n2"]]


def same(guid: str, *others: str, device: str = "mlx5_3") -> Check:
    return fail("fleet.hca.guid_unique", device, f"{guid}, also on {', '.join(others)}")


def test_two_different_guids_that_are_there_twice_are_two_causes() -> None:
    first = {"n1": [same("0xa1", "n2 mlx5_3")], "n2": [same("0xA1", "n1 mlx5_3")]}
    others = {"n3": [same("0xb1", "n4 mlx5_3")], "n4": [same("0xb1", "n3 mlx5_3")]}
    found = diagnose(report(**first, **others))
    assert [(one.id, list(one.hosts)) for one in found.causes] == [
        ("hca.same_guid", ["n1", "n2"]),
        ("hca.same_guid", ["n3", "n4"]),
    ]
    other = {name: [*mine, same("0xc1", "the other mlx5_5", device="mlx5_5")] for name, mine in first.items()}
    assert len(diagnose(report(**other)).causes) == 2


@pytest.mark.parametrize(("rail", "causes"), [(3, ["hca.same_guid"]), (5, ["hca.same_guid", "fabric.loss"])])
def test_a_guid_that_is_there_twice_explains_what_its_own_rail_loses(rail: int, causes: list[str]) -> None:
    pair = {"n1": [same("0xa1", "n2 mlx5_3"), lossy("n2", rail)], "n2": [lossy("n1", rail)]}
    assert sorted(ids(diagnose(report(**pair)))) == sorted(causes)


def test_node_and_port_guid_of_one_device_are_one_cause_with_what_the_fabric_says() -> None:
    hosts = {
        name: [same("0xa1", f"{other} mlx5_3"), same("0xa2", f"{other} mlx5_3/1", device="mlx5_3/1")]
        for name, other in (("n1", "n2"), ("n2", "n1"))
    }
    run = report(**hosts)
    twice = fail("fabric.guid.unique", "0x00000000000000a1", "two cables lead to it").to_dict()
    run["fabric"] = {"fabrics": [{"name": "fabric", "asked": "n3 mlx5_0/1", "checks": [twice]}]}
    assert [(one.id, list(one.hosts)) for one in diagnose(run).causes] == [("hca.same_guid", ["n1", "n2", "fabric"])]


def test_what_two_claim_and_nobody_can_tell_is_a_possible_cause_of_both() -> None:
    said = "claimed twice: n1 mlx5_3 has 0xa1 by its own word, and n2 mlx5_3 by theirs; nobody else tells whose it is"
    check = dataclasses.replace(
        blind("fleet.hca.guid_unique", "mlx5_3", why=said), observed="0xa1, also on", remedy="compare the labels"
    )
    (cause,) = diagnose(report(n1=[check], n2=[check])).causes
    assert (cause.id, list(cause.hosts), cause.confidence) == ("hca.same_guid", ["n1", "n2"], "possible")
    assert (cause.note, cause.mends) == ("compare the labels", False)


def test_facts_of_any_shape_are_no_error() -> None:
    odd = report(n1=[DOWN, fail("roce.qos.pfc", "mlx5_3/1"), fail("pci.link.width", "0000:35:00.0")])
    for nonsense in ({}, {"ib": 3, "gpu": [], "pci": None}, {"ib": {"cas": [1, None]}}):
        odd["hosts"]["n1"]["facts"] = nonsense
        assert "rail.down" in ids(diagnose(odd))


# What a finding says of itself, and whether the command of its cause (a reset of the GPU) mends that.
OWN = [
    ("nvlink.fabric.state", "set FABRIC_MODE=0 in fabricmanager.cfg", False),
    ("nvlink.fabric.state", "drain the host, then `nvidia-smi --gpu-reset -i BUS-ID`", True),
    ("nvlink.fabric.state", "fix nvlink.fabric_manager.active first", True),
    ("nvlink.fabric.state", "", True),
    ("gpu.xid.fatal", "drain the host and reboot it: a reset of the GPU is not enough", False),
]


@pytest.mark.parametrize(("check_id", "remedy", "mends"), OWN)
def test_a_command_that_the_finding_does_not_speak_of_is_neither_told_nor_done(
    check_id: str, remedy: str, mends: bool
) -> None:
    (cause,) = diagnose(report(n1=[fail(check_id, "0000:43:00.0", remedy=remedy)])).causes
    assert (cause.mends, "gpu-reset" in cause.command) == (mends, mends)
    assert mends or (cause.note, cause.acts) == (remedy, [])


@pytest.mark.parametrize("remedy", ["put in a cable that is made for this HCA", ""])
def test_what_hands_do_is_what_the_finding_says_and_else_what_its_cause_says(remedy: str) -> None:
    seen = report(n1=[fail("ib.port.state", "mlx5_0/1", "Down", cause="mlxlink found: x", remedy=remedy)])
    (cause,) = diagnose(seen).causes
    assert cause.note == (remedy or "clean and reseat the cable at both ends, then swap cable, then transceiver")


def test_a_thousand_hosts_with_one_fault_each_are_ranked_soon() -> None:
    many = {f"n{at}": [DOWN, fail("fabric.ping.loss", "mlx5_3/1")] for at in range(1000)}
    found = diagnose(report(**many))
    assert len(found.causes) == 1000
    assert {one.id for one in found.causes} == {"rail.down"}
