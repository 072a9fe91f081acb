# SPDX-License-Identifier: GPL-3.0-or-later
"""From what hosts told to a plan, and from answers to checks and a report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma.ends import end
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import ExpectationError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import RoceFacts, RoceReported
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.rdma import judge, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import rdma_part
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text
from tests.unit import pages
from tests.unit.rdma_hosts import EXPECT, answered, made, port, seen, two
from tests.unit.samples import node

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
FEW = settings(max_examples=30, deadline=None, database=None)


def infiniband(index: int) -> dict[str, Any]:
    return {
        "ibready_node": {"node": {"kernel": "6.12", "root": True, "simulated": ""}},
        "ibready_ibverify": {"checks": [], "facts": {"ib": node(index).to_dict()}},
        "ibready_expect": {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400},
    }


def test_ports_survive_their_way_as_json() -> None:
    facts = RoceFacts(Reading(("rxe0",)), Reading((port(1),)))
    reported = read(RoceReported, json.loads(json.dumps(facts.to_dict())))
    assert reported["ports"].value == (port(1),)
    assert read(RoceReported, RoceFacts().to_dict())["ports"].value is None


def test_two_hosts_meet_both_ways() -> None:
    found = made(two())
    assert found["rounds"] == [{"n1": "n2"}, {"n2": "n1"}]
    serve, ask = rdma_part(found, "n2", 0), rdma_part(found, "n1", "0")
    assert ask["server"] == "n2"
    assert [one["test"] for one in ask["questions"]] == list(data.TESTS)
    first = ask["questions"][0]
    assert (first["device"], first["gid_index"], first["mtu"]) == ("rxe0", 1, 1024)
    assert (first["to"], first["address"], first["tcp_port"]) == ("10.0.0.2", "198.18.92.2", 18700)
    assert first["soft"]
    assert [one["tcp_port"] for one in serve["ends"]] == [18700, 18701, 18702, 18703]
    assert all({**one, "to": "10.0.0.2"} in ask["questions"] for one in serve["ends"])
    assert (serve["questions"], ask["ends"]) == ([], [])


def test_every_part_is_what_the_module_takes() -> None:
    found = made(two(ibready_rdma_containers=True))
    for name in ("n1", "n2"):
        part = rdma_part(found, name, 0)
        for one in part["ends"] + part["questions"]:
            assert end(one).test == one["test"]
        assert len(part["ends"] + part["questions"]) == 12
        assert part["container"]["user"] == 65534


def test_infiniband_is_left_alone_unless_asked_for() -> None:
    hosts = {f"n{index}": infiniband(index) for index in (1, 2, 3)}
    assert made(hosts)["rounds"] == []
    assert made(hosts)["hosts"] == {}
    found = made({name: {**one, "ibready_rdma": "all"} for name, one in hosts.items()})
    part = rdma_part(found, *next((c, at) for at, r in enumerate(found["rounds"]) for c in r))
    # rping needs an address, which nobody told.
    assert {one["test"] for one in part["questions"]} == set(data.TESTS) - {data.CM}
    assert {one["gid_index"] for one in part["questions"]} == {-1}


def test_an_ethernet_port_beside_infiniband_rails_is_none() -> None:
    def both(index: int, **expect: Any) -> dict[str, Any]:
        one = infiniband(index)
        roce = seen(index)["ibready_ibverify"]["facts"]["roce"]
        one["ibready_ibverify"]["facts"]["roce"] = roce
        return {**one, "ibready_expect": expect}

    assert made({f"n{at}": both(at) for at in (1, 2)})["rounds"] == []
    said = {f"n{at}": both(at, link_layer="Ethernet") for at in (1, 2)}
    assert len(made(said)["rounds"]) == 2


def test_who_says_none_takes_no_part() -> None:
    hosts = {**two(), "n3": seen(3, ibready_rdma="none")}
    assert set(made(hosts)["hosts"]) == {"n1", "n2"}


def test_the_index_that_jobs_use_is_used_whatever_it_holds() -> None:
    hosts = two(ibready_expect={**EXPECT, "roce_gid_index": 7})
    part = rdma_part(made(hosts), "n1", 0)
    assert {one["gid_index"] for one in part["questions"]} == {7}
    # rping goes by IP address all the same.
    assert {one["address"] for one in part["questions"]} == {"198.18.92.2"}
    hosts = two()
    for one in hosts.values():
        settings_of = {"value": {"NCCL_IB_GID_INDEX": "0"}, "why": "", "missing": False}
        one["ibready_ibverify"]["facts"]["nccl"] = {"settings": settings_of}
    part = rdma_part(made(hosts), "n1", 0)
    assert {one["gid_index"] for one in part["questions"]} == {0}


def test_containers_follow_what_the_site_says_of_them() -> None:
    expect = {**EXPECT, "container": {"engine": "podman", "image": "registry.example.com/train"}}
    part = rdma_part(made(two(ibready_expect=expect)), "n1", 0)
    assert len(part["questions"]) == 12
    # The jobs' own image may not have the programs.
    assert (part["container"]["engine"], part["container"]["image"]) == ("podman", "")
    off = made(two(ibready_expect=expect, ibready_rdma_containers=False))
    assert len(rdma_part(off, "n1", 0)["questions"]) == 4
    own = made(two(ibready_rdma_containers=True, ibready_rdma_image="localhost/rdma:1"))
    assert rdma_part(own, "n1", 0)["container"]["image"] == "localhost/rdma:1"


@given(st.integers(2, 40), st.integers(1, 6))
@FEW
def test_in_a_round_a_host_serves_or_asks_and_everybody_meets_some(count: int, partners: int) -> None:
    names = [f"n{at}" for at in range(count)]
    rounds = plan.pairs(names, partners)
    met: Counter[str] = Counter()
    for one in rounds:
        busy = [name for pair in one for name in pair]
        assert len(busy) == len(set(busy))
        met.update(busy)
    assert set(met) == set(names)
    assert len(rounds) <= partners + 1
    pairs = [frozenset(pair) for one in rounds for pair in one]
    assert len(set(pairs)) == len(pairs) or count == 2
    # Whoever meets two sends to one and gets from the other.
    asked = Counter(client for one in rounds for client, _ in one)
    assert all(abs(2 * asked[name] - met[name]) <= 1 for name in names)


@given(st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=2, max_size=9))
@FEW
def test_every_rail_is_tried_that_another_host_has(wanted: list[set[int]]) -> None:
    hosts = {
        f"n{at}": seen(at, *(replace(port(at), device=f"rxe{one}") for one in sorted(own)))
        for at, own in enumerate(wanted, 1)
    }
    found = made(hosts)
    tried = set()
    for number, met in enumerate(found["rounds"]):
        busy = [name for pair in met.items() for name in pair]
        assert len(busy) == len(set(busy))
        for client, server in met.items():
            rails = {one["rail"] for one in rdma_part(found, client, number)["questions"]}
            assert rails
            tried |= {(name, rail) for name in (client, server) for rail in rails}
    shared = Counter(one for own in wanted for one in own)
    assert tried == {(f"n{at}", f"rxe{one}/1") for at, own in enumerate(wanted, 1) for one in own if shared[one] > 1}


@pytest.mark.parametrize(
    ("given_as", "said"),
    [({"partners": "many"}, "ibready_rdma_partners"), ({"port": 80}, "ibready_rdma_port")],
)
def test_numbers_have_bounds(given_as: dict[str, Any], said: str) -> None:
    with pytest.raises(AnsibleFilterError, match=said):
        made(two(), **given_as)


@pytest.mark.parametrize("floor", ["380 Gb/s", "nan", 0, -1, [380]])
def test_a_limit_that_is_none_is_refused(floor: Any) -> None:
    with pytest.raises(ExpectationError, match=r"bench_floors: bandwidth_gbps: .* no number"):
        made(two(bench_floors={"bandwidth_gbps": floor}))
    assert made(two(bench_floors={"bandwidth_gbps": "380"}))["rounds"]


def report(hosts: Mapping[str, Any]) -> dict[str, Any]:
    reported = _hosts.gather(hosts, list(hosts))
    return cluster.report(
        reported,
        size=len(hosts),
        created=NOW,
        version="0.1.0",
        moves=_hosts.rdma_plan(hosts, list(hosts)),
    )


def alone(hosts: Mapping[str, Any]) -> dict[str, Any]:
    """The hosts of the report of rdma.yml."""
    reported = _hosts.gather(hosts, list(hosts))
    plan_of = _hosts.rdma_plan(hosts, list(hosts))
    found: dict[str, Any] = judge.alone(reported, plan_of, len(hosts), NOW)["hosts"]
    return found


def results(found: Mapping[str, Any], name: str, *areas: str) -> dict[str, str]:
    return {
        one["id"]: one["result"]
        for one in found["hosts"][name]["checks"]
        if one["id"].startswith(areas or ("fabric.rdma", "container.rdma"))
    }


def head(text: str) -> list[str]:
    """The words above the columns of the table."""
    return next(line.split() for line in text.splitlines() if line.startswith("HOST"))


def test_data_that_arrived_proves_what_pings_cannot_on_roce() -> None:
    found = report(answered(two()))
    assert set(results(found, "n1").values()) == {"pass"}
    assert results(found, "n1", "fabric.ping") == {"fabric.ping.tested": "skip"}
    assert len(found["rdma"]) == 8
    assert list(valid.wrong(found["rdma"], shape.RUN["properties"]["rdma"])) == []
    text = render_text.render(found)
    assert "RDMA" in head(text)
    assert "8/8 moved data" in text
    assert "Ping RDMA Checks" in pages.words(found)


def test_without_data_a_roce_host_stays_unknown() -> None:
    hosts = {name: {**one, "ibready_rdma": "none"} for name, one in two().items()}
    found = report(hosts)
    assert set(results(found, "n1").values()) == {"skip"}
    assert results(found, "n1", "fabric.ping") == {"fabric.ping.tested": "unknown"}
    never = report(two())
    assert set(results(never, "n1").values()) == {"unknown"}
    assert "rdma" not in found
    assert "RDMA" not in head(render_text.render(found))


def test_infiniband_hosts_have_neither_checks_nor_a_column() -> None:
    hosts = {f"n{index}": infiniband(index) for index in (1, 2, 3)}
    found = report(hosts)
    assert results(found, "n1") == {}
    assert "rdma" not in found


def test_a_host_that_stopped_is_told_with_its_reason() -> None:
    hosts = answered(two())
    hosts["n2"].update(ibready_rdma_error="Wait for the other host: gone", ibready_rdma_answers=[])
    found = report(hosts)
    causes = [one["cause"] for one in found["hosts"]["n2"]["checks"] if one["result"] == "unknown"]
    assert "Wait for the other host: gone" in causes


def test_a_host_that_was_lost_on_the_way_is_told() -> None:
    hosts = answered(two())
    hosts["n2"].update(ibready_rdma_asked={"unreachable": True, "msg": "Timeout (12s)"}, ibready_rdma_answers=[])
    found = report(hosts)
    causes = [one["cause"] for one in found["hosts"]["n2"]["checks"] if one["result"] == "unknown"]
    assert "lost while data was moved: Timeout (12s)" in causes


def test_a_server_that_gave_up_by_itself_failed() -> None:
    """As on soft RoCE with an empty GID: the client sees no more than that the server is gone."""
    gone = {"state": data.UNTESTED, "kind": data.NO_SERVER, "said": "Couldn't read/write"}
    words = {"kind": data.GID, "said": "Failed to modify QP to RTR"}
    found = report(answered(two(), **{data.VERBS: gone}, served=words))
    bad = [one for one in found["rdma"] if one["test"] == data.VERBS]
    assert {(one["state"], one["at"]) for one in bad} == {(data.FAILED, "server")}
    assert results(found, "n1")["fabric.rdma.verbs"] == "fail"


def test_damage_that_only_the_server_saw_is_a_failure() -> None:
    bent = {"kind": data.DAMAGED, "said": "invalid data in page 3"}
    found = report(answered(two(), served=bent))
    assert results(found, "n1")["fabric.rdma.verbs"] == "fail"


@pytest.mark.parametrize("rc", [None, 1, 143])
def test_data_that_nobody_compared_is_no_proof(rc: Any) -> None:
    """The client of ibv_rc_pingpong never looks at what comes."""
    found = report(answered(two(), served={"rc": rc}))
    reported = {one["id"]: one for one in found["hosts"]["n1"]["checks"]}
    assert reported["fabric.rdma.verbs"]["result"] == "unknown"
    assert "n1 did not tell whether it is what was sent" in reported["fabric.rdma.verbs"]["cause"]
    assert reported["fabric.rdma.latency"]["result"] == "pass"
    hosts = answered(two())
    hosts["n2"]["ibready_rdma_served"] = []
    assert results(report(hosts), "n2")["fabric.rdma.verbs"] == "unknown"


def test_a_call_that_never_came_is_no_lost_data() -> None:
    """As where a firewall drops TCP at the port where programs meet, and nothing else."""
    lost = {"state": data.FAILED, "kind": data.LOST, "said": "waited in vain"}
    tests = (data.VERBS, data.LATENCY, data.BANDWIDTH)
    found = report(answered(two(), **dict.fromkeys(tests, lost), served={"rc": None, "waits": True}))
    reported = {one["id"]: one for one in found["hosts"]["n1"]["checks"]}
    assert {reported[f"fabric.rdma.{one}"]["result"] for one in tests} == {"unknown"}
    assert "no TCP connection to port 18700 of n1 came up" in reported["fabric.rdma.verbs"]["cause"]
    met = report(answered(two(), **dict.fromkeys(tests, lost), served={"rc": None}))
    assert results(met, "n1")["fabric.rdma.verbs"] == "fail"


def test_answers_of_another_run_are_nobodys() -> None:
    hosts = answered(two())
    for one in hosts.values():
        one["ibready_rdma_plan"] = {**one["ibready_rdma_plan"], "run": "later"}
    assert set(results(report(hosts), "n1").values()) == {"unknown"}


@given(
    st.dictionaries(
        st.sampled_from(["state", "kind", "said", "at", "bytes", "gbps", "usec", "pings"]),
        st.one_of(st.none(), st.text(max_size=5), st.integers(), st.floats(), st.booleans()),
    )
)
@FEW
def test_whatever_a_module_returns_no_other_host_suffers(bent: dict[str, Any]) -> None:
    texts = {name: bent[name] for name in ("state", "kind", "said", "at") if name in bent}
    hosts = answered(two(), **{data.VERBS: bent})
    found = report(hosts)
    reported = results(found, "n1")
    odd = [name for name, one in texts.items() if not isinstance(one, str)]
    if odd:
        assert set(reported.values()) == {"unknown"}
        causes = {one["cause"] for one in found["hosts"]["n1"]["checks"]}
        assert any(f"ibready_rdma_answers[0].{name}: " in one for one in causes for name in odd)
        return
    assert reported["fabric.rdma.latency"] == "pass"
    if texts.get("state", data.MOVED) != data.MOVED:
        assert reported["fabric.rdma.verbs"] != "pass"


@pytest.mark.parametrize("bent", [{"rc": "0"}, {"kind": 5}, {"devices": "rdma_cm"}])
def test_words_of_another_type_are_named(bent: dict[str, Any]) -> None:
    found = report(answered(two(), served=bent))
    reported = {one["id"]: one for one in found["hosts"]["n1"]["checks"]}
    assert reported["fabric.rdma.verbs"]["result"] == "unknown"
    assert f"ibready_rdma_served[0].{next(iter(bent))}: " in reported["fabric.rdma.verbs"]["cause"]


@pytest.mark.parametrize("number", [None, float("nan"), float("inf"), -1.0, 10**400, "391"])
def test_a_speed_that_is_no_number_is_no_speed(number: Any) -> None:
    found = report(answered(two(), **{data.BANDWIDTH: {"gbps": number}, data.LATENCY: {"usec": number}}))
    reported = results(found, "n1")
    assert (reported["fabric.rdma.bandwidth"], reported["fabric.rdma.latency"]) == ("unknown", "unknown")
    assert reported["fabric.rdma.verbs"] == "pass"


@pytest.mark.parametrize("number", [None, 0, float("nan")])
def test_nothing_that_moved_is_nothing(number: Any) -> None:
    bent = {data.VERBS: {"bytes": number}, data.CM: {"pings": number}}
    reported = results(report(answered(two(), **bent)), "n1")
    assert (reported["fabric.rdma.verbs"], reported["fabric.rdma.cm"]) == ("unknown", "unknown")
    assert reported["fabric.rdma.latency"] == "pass"


def test_simulated_nodes_move_nothing() -> None:
    hosts = two()
    for one in hosts.values():
        one["ibready_node"]["node"]["simulated"] = "ibsim"
    assert made(hosts)["rounds"] == []
    assert set(results(report(hosts), "n1").values()) == {"skip"}


def test_a_port_that_is_down_is_named() -> None:
    hosts = {"n1": seen(1), "n2": seen(2, replace(port(2), state="Down"))}
    assert made(hosts)["rounds"] == []
    for one in hosts.values():
        one["ibready_rdma_plan"] = made(hosts)
    found = report(hosts)
    causes = {one["cause"] for one in found["hosts"]["n1"]["checks"] if "rdma" in one["id"]}
    assert causes == {"n2: the port is Down"}


def facts_of(ib: IbFacts, roce: RoceFacts) -> dict[str, Any]:
    return {"checks": [], "facts": {"ib": ib.to_dict(), "roce": roce.to_dict()}}


@pytest.mark.parametrize(
    ("roce", "expect", "cause"),
    [
        (RoceFacts(Reading(("rxe0",)), Reading(None, "rxe0: closed")), {}, "rxe0: closed"),
        (RoceFacts(Reading(()), Reading(())), EXPECT, "there is no RoCE port"),
        (
            RoceFacts(Reading(None, "none", True), Reading(None, "none", True)),
            {"link_layer": "Ethernet"},
            "there is no RoCE port",
        ),
    ],
)
def test_a_host_whose_rails_nobody_saw_proves_nothing(roce: RoceFacts, expect: dict[str, Any], cause: str) -> None:
    judged = facts_of(IbFacts(bus=Reading(("0000:17:00.0",))), roce)
    hosts = {**two(), "n3": seen(3, ibready_ibverify=judged, ibready_expect=expect)}
    found = alone(answered(hosts))
    assert found["n3"]["verdict"] == "unknown"
    assert {one["cause"] for one in found["n3"]["checks"]} == {cause}
    assert found["n1"]["verdict"] == "ready"


def test_a_soft_device_that_the_site_asks_for_and_nobody_saw_is_missed() -> None:
    asked = [{"name": name, "netdev": "eth1"} for name in ("rxe0", "rxe1")]
    found = alone(answered(two(rdma_soft_roce=asked)))
    reported = {one["subject"]: one for one in found["n1"]["checks"] if one["id"] == "fabric.rdma.cm"}
    assert (reported["rxe0/1"]["result"], reported["rxe1/1"]["result"]) == ("pass", "unknown")
    assert reported["rxe1/1"]["cause"] == "there is no such device"


def test_a_host_that_never_had_a_rail_is_passed_over() -> None:
    bare = facts_of(IbFacts(bus=Reading(())), RoceFacts(Reading(()), Reading(())))
    hosts = {**two(), "n3": seen(3, ibready_ibverify=bare)}
    assert {one["result"] for one in alone(answered(hosts))["n3"]["checks"]} == {"skip"}


def test_alone_it_is_judged_with_a_verdict_for_every_host() -> None:
    hosts = {**answered(two()), "n3": infiniband(3), "n4": {}}
    reported = _hosts.gather(hosts, list(hosts))
    found = judge.alone(reported, _hosts.rdma_plan(hosts, list(hosts)), 4, NOW)
    verdicts = {name: one["verdict"] for name, one in found["hosts"].items()}
    assert verdicts == {"n1": "ready", "n2": "ready", "n3": "ready", "n4": "unknown"}
    text = judge.text(found)
    assert "8/8 moved data" in text
    assert "n4 is unknown" in text
