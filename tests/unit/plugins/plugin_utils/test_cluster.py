# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts, summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page
from tests.unit import pages, soft_roce_node
from tests.unit.samples import facts, node, port
from tests.unit.tcp_told import RENDEZVOUS, SAMPLE, answer, tcp

NAMES = ("n1", "n2", "n3")
RAILS = ("mlx5_0/1", "mlx5_1/1")
EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
NODE = {"kernel": "6.8.0", "root": True, "simulated": ""}

CLOCK = {"asked": 10.0, "answered": 20.0, "began": 1e9 + 11, "ended": 1e9 + 19}
NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def registered(index: int, ib: IbFacts | None = None, **bent: Any) -> dict[str, Any]:
    """The variables of one host after a run in which all went well."""
    me = f"n{index}"
    answers = [
        {"rail": rail, "server": server, "untested": "", "sent": 50, "received": 50, "rtt_avg": 0.02, "rtt_max": 0.1}
        for server in NAMES
        for rail in RAILS
        if server != me
    ]
    return {
        "ibready_node": {"node": NODE},
        "ibready_ibverify": {"checks": [], "facts": {"ib": (ib or node(index)).to_dict()}, "clock": CLOCK},
        "ibready_expect": EXPECT,
        "ibready_pings": answers,
        **tcp(*(name for name in NAMES if name != me)),
        **bent,
    }


def run(**bent: dict[str, Any]) -> dict[str, Any]:
    """A report over three hosts; ``n2={...}`` replaces what is known of one."""
    hostvars = {name: bent.get(name, registered(index)) for index, name in enumerate(NAMES, 1)}
    hosts = _hosts.gather(hostvars, NAMES)
    return cluster.report(hosts, size=3, created=NOW, version="0.1.0")


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {name: host["verdict"] for name, host in report["hosts"].items()}


def bad(report: dict[str, Any]) -> set[str]:
    return {
        f"{name} {check['id']} {check['result']}"
        for name, host in report["hosts"].items()
        for check in host["checks"]
        if check["result"] in ("fail", "unknown")
    }


def test_three_healthy_hosts_are_ready() -> None:
    report = run()
    assert bad(report) == set()
    assert verdicts(report) == dict.fromkeys(NAMES, "ready")
    assert summary.bad(report) == {}
    assert len(report["pings"]) == 12


ABSENT = [
    pytest.param(
        {"ibready_node": {"unreachable": True, "msg": "Connection refused"}},
        "unreachable by ssh: Connection refused",
        id="ssh does not answer",
    ),
    pytest.param(
        {"ibready_node": {"failed": True, "msg": "Missing sudo password"}}, "could not become root", id="no sudo rights"
    ),
    pytest.param({}, "took no part", id="never contacted"),
]


@pytest.mark.parametrize(("seen", "why"), ABSENT)
def test_an_absent_host_is_unknown_and_the_others_stay_ready(seen: dict[str, Any], why: str) -> None:
    others = {}
    for index in (1, 3):
        mine = registered(index)
        mine["ibready_pings"] = [one for one in mine["ibready_pings"] if one["server"] != "n2"]
        others[f"n{index}"] = mine
    report = run(n2=seen, **others)
    assert verdicts(report) == {"n1": "ready", "n2": "unknown", "n3": "ready"}
    assert bad(report) == {"n2 host.access.reachable unknown"}
    assert why in report["hosts"]["n2"]["checks"][0]["cause"]
    assert set(summary.bad(report)) == {"n2"}
    untested = [ping for ping in report["pings"] if ping["untested"]]
    assert {ping["culprit"] for ping in untested} == {"n2"}
    assert len(untested) == 8


def test_pings_that_never_ran_are_unknown_not_passed() -> None:
    report = run(**{f"n{i}": registered(i, ibready_pings=[]) for i in (1, 2, 3)})
    assert set(verdicts(report).values()) == {"unknown"}


def test_a_host_that_stopped_in_a_role_is_named_with_its_message() -> None:
    stopped = {"ibready_node": {"node": NODE}, "ibready_converge_error": "apt: lock held"}
    report = run(n2=stopped)
    assert {"n2 host.converge.complete fail", "n2 ib.tool.ibstat unknown"} <= bad(report)
    assert verdicts(report)["n2"] == "not_ready"


def test_a_port_that_only_one_host_lacks_makes_that_host_unknown() -> None:
    lame = node(3)
    lame = replace(lame, cas=lame.cas[:1], sysfs=lame.cas[:1], sm={RAILS[0]: lame.sm[RAILS[0]]})
    one = {"hcas": 1, "link_layer": "InfiniBand", "rate_gbps": 400}
    answers = {}
    for index in (1, 2, 3):
        mine = registered(index, lame if index == 3 else None)
        mine["ibready_pings"] = [
            one for one in mine["ibready_pings"] if one["rail"] == RAILS[0] or (index != 3 and one["server"] != "n3")
        ]
        answers[f"n{index}"] = mine
    answers["n3"]["ibready_expect"] = one
    report = run(**answers)
    assert verdicts(report)["n1"] == "ready"
    assert "n3 fabric.ping.tested unknown" in bad(report)


def test_a_fleet_of_ethernet_hosts_is_never_ready() -> None:
    flipped = {}
    for index in (1, 2, 3):
        one = node(index)
        cas = tuple(replace(ca, ports=(port(link_layer="Ethernet", lid=0, sm_lid=0),)) for ca in one.cas)
        ib = replace(one, cas=cas, sysfs=cas, sm={})
        flipped[f"n{index}"] = registered(index, ib, ibready_expect={}, ibready_pings=[])
    assert set(verdicts(run(**flipped)).values()) == {"unknown"}
    for mine in flipped.values():
        mine["ibready_expect"] = {"hcas": 2, "link_layer": "Ethernet", "rate_gbps": 400}
    assert set(verdicts(run(**flipped)).values()) == {"unknown"}


@pytest.mark.parametrize(
    "bent",
    [
        pytest.param({"sent": 0, "received": 0}, id="nothing sent"),
        pytest.param({"received": 5000}, id="more than was sent"),
        pytest.param({"received": "50"}, id="a text"),
        pytest.param({"received": None}, id="no number"),
    ],
)
def test_an_answer_that_cannot_be_true_is_untested(bent: dict[str, Any]) -> None:
    mine = registered(2)
    mine["ibready_pings"][0].update(bent)
    report = run(n2=mine)
    assert verdicts(report)["n2"] == "unknown"
    assert [one["culprit"] for one in report["pings"] if one["untested"]] == ["n2"]


@pytest.mark.parametrize("nonsense", [{}, {"cas": 1}, None, "text", {"cas": [{"name": "x"}]}])
def test_one_host_s_nonsense_stays_its_own(nonsense: Any) -> None:
    report = run(n2=registered(2, ibready_ibverify={"checks": [], "facts": nonsense}))
    assert verdicts(report)["n2"] == "unknown"
    assert len(report["hosts"]) == 3


def test_what_a_host_quoted_of_its_ports_goes_with_the_same_finding_of_the_fleet_s() -> None:
    sound, second = node(2).cas
    slow = facts(sound, replace(second, ports=(replace(second.ports[0], rate=100.0),)))
    quote = {"/sys/class/infiniband/mlx5_1/ports/1/rate": "100 Gb/sec (4X EDR)"}
    reported = [
        Check("ib.port.rate", "mlx5_1/1", "fail", "error", "100 Gb/s", evidence=quote),
        Check("ib.port.rate", "mlx5_0/1", "fail", "error", "100 Gb/s", evidence=quote),
    ]
    mine = registered(2, slow)
    mine["ibready_ibverify"]["checks"] = [one.to_dict() for one in reported]
    rates = [one for one in run(n2=mine)["hosts"]["n2"]["checks"] if one["id"] == "ib.port.rate"]
    # mlx5_0 was found to be sound by now.
    assert {one["subject"]: one["evidence"] for one in rates} == {"mlx5_0/1": {}, "mlx5_1/1": quote}


@pytest.mark.parametrize("evidence", [5, ["a"], {"rate": 100}, None])
def test_evidence_that_is_none_stays_the_host_s_own_nonsense(evidence: Any) -> None:
    mine = registered(2)
    check = Check("ib.port.rate", "mlx5_1/1", "fail", "error").to_dict()
    mine["ibready_ibverify"]["checks"] = [{**check, "evidence": evidence}]
    assert verdicts(run(n2=mine)) == {"n1": "ready", "n2": "unknown", "n3": "ready"}


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        pytest.param({"facts": {}}, "facts that cannot be read", id="foreign facts"),
        pytest.param({"failed": True, "msg": "MODULE FAILURE: oops"}, "oops", id="a traceback"),
        pytest.param({}, "the module ibverify did not run", id="nothing"),
    ],
)
def test_a_host_that_could_not_be_judged_says_why(judged: dict[str, Any], why: str) -> None:
    report = run(n2=registered(2, ibready_ibverify=judged))
    reported = {
        check["id"]: check["cause"] for check in report["hosts"]["n2"]["checks"] if check["result"] == "unknown"
    }
    assert why in reported["ib.tool.ibstat"]


def test_an_untested_answer_keeps_the_clients_own_words() -> None:
    mine = registered(2)
    why = "ibping from mlx5_0: can't open UMAD port"
    mine["ibready_pings"][0] = {"rail": RAILS[0], "server": "n1", "untested": why}
    report = run(n2=mine)
    assert [one["untested"] for one in report["pings"] if one["untested"]] == [why]
    causes = {
        check["cause"]
        for check in report["hosts"]["n2"]["checks"]
        if check["id"] == "fabric.ping.tested" and check["result"] == "unknown"
    }
    assert causes == {why}


def test_a_client_that_answered_part_of_its_questions_is_unknown() -> None:
    mine = registered(2)
    mine["ibready_pings"] = mine["ibready_pings"][1:]
    report = run(n2=mine)
    assert "n2 fabric.ping.tested unknown" in bad(report)
    pairs = [(one["client"], one["server"], one["rail"]) for one in report["pings"]]
    assert sorted(pairs) == sorted(set(pairs))
    assert len(pairs) == 12


def test_an_ignored_rail_is_skipped_by_name_and_its_peers_say_so() -> None:
    mine = registered(2, ibready_expect={**EXPECT, "hcas": 1, "ignore": ["mlx5_1"]})
    mine["ibready_pings"] = [one for one in mine["ibready_pings"] if one["rail"] == RAILS[0]]
    others = {}
    for index in (1, 3):
        other = registered(index)
        other["ibready_pings"] = [
            one for one in other["ibready_pings"] if one["rail"] == RAILS[0] or one["server"] != "n2"
        ]
        others[f"n{index}"] = other
    report = run(n2=mine, **others)
    assert verdicts(report) == dict.fromkeys(NAMES, "ready")
    skips = [c for c in report["hosts"]["n2"]["checks"] if c["id"] == "fabric.ping.tested"]
    assert [one["result"] for one in skips] == ["pass", "skip"]


def test_a_module_that_was_not_root_is_unknown() -> None:
    report = run(n2=registered(2, ibready_node={"node": {**NODE, "root": False}}))
    assert verdicts(report)["n2"] == "unknown"


def test_a_ping_server_that_did_not_start_makes_its_host_unknown() -> None:
    broken = registered(2, ibready_ping_error="ibready-ibping did not stay up", ibready_pings=[])
    silent = {}
    for index in (1, 3):
        mine = registered(index)
        mine["ibready_pings"] = [one for one in mine["ibready_pings"] if one["server"] != "n2"]
        silent[f"n{index}"] = mine
    report = run(n2=broken, **silent)
    assert verdicts(report) == {"n1": "ready", "n2": "unknown", "n3": "ready"}
    assert "n2 fabric.ping.tested unknown" in bad(report)


def test_what_others_lost_to_servers_that_were_another_runs_is_no_loss() -> None:
    why = "another run is at work here: site.yml by eve@other"
    hosts = {"n2": registered(2, ibready_ping_error=why, ibready_pings=[])}
    for index in (1, 3):
        hosts[f"n{index}"] = mine = registered(index)
        mine["ibready_pings"] = [
            {**one, "received": 3} if one["server"] == "n2" else one for one in mine["ibready_pings"]
        ]
    report = run(**hosts)
    assert verdicts(report) == {"n1": "ready", "n2": "unknown", "n3": "ready"}
    untested = [one for one in report["pings"] if one["untested"]]
    assert {one["culprit"] for one in untested} == {"n2"}
    assert all(why in one["untested"] for one in untested)


@pytest.mark.parametrize(
    ("size", "result"),
    [
        pytest.param(1, "skip", id="the only host has no one to reach"),
        pytest.param(3, "unknown", id="a limit proves nothing"),
    ],
)
def test_a_host_by_itself_is_judged_by_rail_also_where_it_could_not_ping(size: int, result: str) -> None:
    mine = registered(1, ibready_ping_error="ibready-ibping did not stay up", ibready_pings=[])
    hosts = _hosts.gather({"n1": mine}, ["n1"])
    report = cluster.report(hosts, size=size, created=NOW, version="0.1.0")
    reported = {
        (check["id"], check["subject"], check["result"])
        for check in report["hosts"]["n1"]["checks"]
        if check["id"].startswith("fabric.ping.")
    }
    names = ("tested", "reachable", "loss")
    assert reported == {(f"fabric.ping.{name}", rail, result) for name in names for rail in RAILS}


def test_without_an_inventory_expectation_the_fleet_expects() -> None:
    slow = node(2)
    slow = replace(slow, cas=(replace(slow.cas[0], ports=(port(rate=100.0, lid=20),)), slow.cas[1]))
    slow = replace(slow, sysfs=slow.cas)
    hosts = {f"n{i}": registered(i, slow if i == 2 else None, ibready_expect={}) for i in (1, 2, 3)}
    report = run(**hosts)
    assert bad(report) == {"n2 ib.port.rate fail"}
    check = next(one for one in report["hosts"]["n2"]["checks"] if one["result"] == "fail")
    assert (check["expected"], check["expected_from"]) == ("400 Gb/s", "fleet 2/3")


def test_the_text_report_names_what_where_why_and_what_next() -> None:
    mine = registered(2)
    for one in mine["ibready_pings"]:
        one["received"] = 25 if one["rail"] == RAILS[1] else 50
    others = {}
    for index in (1, 3):
        other = registered(index)
        for one in other["ibready_pings"]:
            if one["server"] == "n2" and one["rail"] == RAILS[1]:
                one["received"] = 25
        others[f"n{index}"] = other
    report = run(n2=mine, **others)
    assert bad(report) == {"n2 fabric.ping.loss fail"}
    text = render_text.render(report)
    for part in ("n2 is not_ready:", "fabric.ping.loss", RAILS[1], "50 % lost", "cause:", "remedy:"):
        assert part in text
    assert "SIMULATED" not in text


def test_a_simulated_cluster_says_so_in_every_format() -> None:
    mine = registered(1, ibready_node={"node": {**NODE, "simulated": "InfiniBand fabric (ibsim)"}})
    report = run(n1=mine)
    assert "SIMULATED: InfiniBand fabric (ibsim)" in render_text.render(report)
    assert "Simulated: InfiniBand fabric (ibsim)" in pages.words(report)


def test_soft_roce_is_told_in_every_format_and_its_rate_is_none() -> None:
    judged = _verify.verify(soft_roce_node.node(), from_inventory(None))
    mine = registered(1, ibready_ibverify=verdict_object("n1", judged.checks, judged.facts))
    report = run(n1=mine)
    said = "RDMA in software on n1 (rxe0): no number of theirs is an HCA's"
    assert f"SOFT ROCE: {said}" in render_text.render(report)
    assert "1/1 Active, soft RoCE" in render_text.render(report)
    assert "2.5 Gb/s" not in render_text.render(report).splitlines()[3]
    assert "Soft RoCE: RDMA in software on n1 (rxe0)" in pages.words(report)
    assert "SOFT ROCE" not in render_text.render(run())


def test_html_escapes_what_hosts_say() -> None:
    evil = {"ibready_node": {"unreachable": True, "msg": "<script>alert(1)</script>"}}
    html = page.render(run(n2=evil))
    assert "<script>alert" not in html
    assert "<script>alert(1)</script>" in pages.parse(html).words


def test_the_report_is_plain_json() -> None:
    report = run()
    again = json.loads(json.dumps(report))
    assert again["schema"] == "ibready/report/2"
    assert set(again["hosts"]) == set(NAMES)


def test_an_interrupted_write_leaves_the_old_report_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    files.write_whole(path, "old")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.json"]


def dropping(*ports: int) -> dict[str, Any]:
    """A report over three hosts of which n2 drops what comes to these ports."""
    hosts = {}
    for index in (1, 3):
        mine = registered(index)
        mine["ibready_tcp_asked"]["answers"] = [
            answer("n2", one["port"], "dropped") if one["server"] == "n2" and one["port"] in ports else one
            for one in mine["ibready_tcp_asked"]["answers"]
        ]
        hosts[f"n{index}"] = mine
    return run(**hosts)


@pytest.mark.parametrize(
    ("ports", "check_id"),
    [
        pytest.param([RENDEZVOUS], "fabric.tcp.rendezvous", id="the rendezvous port"),
        pytest.param(SAMPLE, "fabric.tcp.range", id="the local ports"),
    ],
)
def test_a_firewall_makes_its_own_host_not_ready(ports: list[int], check_id: str) -> None:
    report = dropping(*ports)
    assert bad(report) == {f"n2 {check_id} fail"}
    assert verdicts(report) == {"n1": "ready", "n2": "not_ready", "n3": "ready"}
    assert "`nft list ruleset` on n2" in render_text.render(report)
    dropped = [one for one in report["tcp"] if one["outcome"] == "dropped"]
    assert {one["server"] for one in dropped} == {"n2"}
    assert len(report["tcp"]) == 6 * (1 + len(SAMPLE))


def test_the_switch_shows_in_the_report() -> None:
    report = run(**{f"n{i}": registered(i, ibready_tcp=False) for i in (1, 2, 3)})
    assert verdicts(report) == dict.fromkeys(NAMES, "ready")
    reported = [one for one in report["hosts"]["n1"]["checks"] if one["id"].startswith("fabric.tcp.")]
    assert [one["result"] for one in reported] == ["skip", "skip"]
    assert "ibready_tcp is false" in reported[0]["cause"]


def test_connections_that_were_never_tried_are_unknown_not_passed() -> None:
    silent = {"ibready_tcp_listening": {}, "ibready_tcp_asked": {}, "ibready_tcp_stopped": {}}
    report = run(**{f"n{i}": registered(i, **silent) for i in (1, 2, 3)})
    assert set(verdicts(report).values()) == {"unknown"}
    assert report["tcp"] == []


def test_all_pairs_are_in_the_report_tested_or_not() -> None:
    report = run(n2={})
    listed = {(one["client"], one["server"], one["rail"]) for one in report["pings"]}
    assert listed == {(c, s, rail) for c, s in permutations(NAMES, 2) for rail in RAILS}
