# SPDX-License-Identifier: GPL-3.0-or-later
"""Data between hosts and between containers, judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.rdma.tried import Host, Words
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import RDMA
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.rdma import judge
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from tests.unit.rdma_told import NAMES, failure, hosts, rail, tries

VERBS, MTU = "fabric.rdma.verbs", "fabric.rdma.mtu"
LOST = failure(data.LOST, "transport retry counter exceeded (12)")


def of(found: dict[str, list[Check]], check_id: str = VERBS, result: str = "fail") -> dict[str, Check]:
    return {
        name: one for name, checks in found.items() for one in checks if one.id == check_id and one.result == result
    }


def test_where_all_data_arrives_every_host_passes_everything() -> None:
    found = judge(hosts(containers=True), tries(data.WHERE), 3)
    results = {(one.id, one.result) for checks in found.values() for one in checks}
    assert results == {(one.id, "pass") for one in RDMA}
    reported = of(found, "fabric.rdma.bandwidth", "pass")["a"]
    assert reported.observed == "4 of 4 pairs, 391 Gb/s, 4 GiB"
    assert (reported.expected, reported.expected_from) == (
        "at least 360 Gb/s",
        "capability of a port of 400 Gb/s",
    )
    subjects = {one.subject for one in found["a"] if one.id == "container.rdma.verbs"}
    assert subjects == {"mlx5_0/1 as root", "mlx5_0/1 as user 65534"}


def test_a_host_without_a_rail_has_no_checks() -> None:
    assert judge({**hosts(), "z": Host()}, tries(), 4)["z"] == []


def test_blocked_packets_are_laid_at_the_host_of_most_bad_pairs() -> None:
    found = judge(hosts(), tries(of_b=LOST), 3)
    bad = of(found)
    assert set(bad) == {"b"}
    assert "UDP 4791 is blocked" in bad["b"].cause
    assert "firewall" in bad["b"].remedy
    assert "failed in 4 of 4 pairs" in bad["b"].observed
    passed = of(found, VERBS, "pass")["a"]
    assert passed.observed.endswith("not with b (told there)")


def test_between_two_hosts_both_are_named() -> None:
    both = {name: one for name, one in hosts().items() if name != "c"}
    pairs = [one for one in tries(of_b=LOST) if "c" not in one.hosts]
    assert set(of(judge(both, pairs, 2))) == {"a", "b"}


def test_what_one_host_alone_says_of_another_that_denies_it_is_unknown() -> None:
    found = judge(hosts(), tries(a_b=LOST), 3)
    assert set(of(found)) == {"a"}
    assert of(found, VERBS, "unknown")["b"].cause.endswith("a says so, b denies it")
    # The server's own word bears it out.
    seen = tries(a_b={**LOST, "served": Words(data.LOST, "no data came")})
    assert set(of(judge(hosts(), seen, 3))) == {"a", "b"}


@pytest.mark.parametrize("name", ["fabric.rdma.bandwidth", "fabric.rdma.latency"])
def test_speed_that_one_host_alone_measures_fails_no_other(name: str) -> None:
    seen = [
        replace(one, gbps=one.gbps and 1.0, usec=one.usec and 900.0) if one.hosts == ("a", "b") else one
        for one in tries()
    ]
    found = judge(hosts(), seen, 3)
    assert (set(of(found, name)), set(of(found, name, "unknown"))) == ({"a"}, {"b"})


def test_the_mtu_that_one_host_claims_fails_no_other_that_is_as_the_rest() -> None:
    seen = hosts({"c": {"rails": {"mlx5_0/1": rail(3, mtu=1024)}}})
    some = [one for one in tries() if one.hosts != ("b", "c") and one.hosts != ("c", "b")]
    found = judge(seen, some, 3)
    assert (set(of(found, MTU)), set(of(found, MTU, "unknown"))) == ({"c"}, {"a"})


@pytest.mark.parametrize(
    ("bent", "said"),
    [
        ({"gid_usable": False, "gid": "", "address": ""}, "index 3 is empty"),
        ({"gid_usable": False, "gid": "RoCE v1 IPv4 10.0.0.2"}, "index 3 is RoCE v1"),
    ],
)
@pytest.mark.parametrize("kind", [data.LOST, data.GID])
def test_a_gid_that_leads_nowhere_is_its_owners(kind: str, bent: dict[str, Any], said: str) -> None:
    seen = hosts({"b": {"rails": {"mlx5_0/1": rail(2, **bent)}}})
    pair = [one for one in tries(a_b=failure(kind)) if one.hosts == ("a", "b")]
    bad = of(judge(seen, pair, 3))
    assert set(bad) == {"b"}
    assert said in bad["b"].cause
    assert "roce_gid_index" in bad["b"].remedy


def test_two_versions_of_roce_do_not_understand_each_other() -> None:
    other = rail(2, gid_type="IB/RoCE v1", gid="IB/RoCE v1 IPv4 10.0.0.2")
    pair = [one for one in tries(a_b=LOST) if one.hosts == ("a", "b")]
    bad = of(judge(hosts({"b": {"rails": {"mlx5_0/1": other}}}), pair, 3))
    assert "two versions of RoCE" in bad["a"].cause


def test_one_address_at_both_ends_is_an_interface_of_each_host_alone() -> None:
    mine = {"rails": {"mlx5_0/1": rail(1, address="172.17.0.1", netdev="docker0")}}
    pair = [one for one in tries(a_b=LOST) if one.hosts == ("a", "b")]
    bad = of(judge(hosts({"a": mine, "b": mine}), pair, 3))
    assert "docker0 on a, docker0 on b" in bad["b"].cause


def test_full_packets_that_are_lost_where_small_ones_arrive_are_too_large() -> None:
    seen = [one if one.test != data.VERBS or "b" not in one.hosts else replace(one, **LOST) for one in tries()]
    found = judge(hosts(), seen, 3)
    assert set(of(found)) == {"b"}
    assert "packets of 4096 bytes do not" in of(found)["b"].cause
    assert "smaller" in of(found, MTU)["b"].cause


def test_ends_of_different_mtu_are_named() -> None:
    seen = hosts({"b": {"rails": {"mlx5_0/1": rail(2, mtu=1024, netdev="eth1")}}})
    found = judge(seen, tries(), 3)
    bad = of(found, MTU)
    assert set(bad) == {"b"}
    assert bad["b"].observed == "1024 here, 4096 on a, 4096 on c"
    assert "eth1" in bad["b"].cause
    assert of(found, MTU, "pass")["a"].observed == "4096 bytes to 1 hosts"
    apart = [one for one in tries() if one.hosts not in (("a", "c"), ("c", "a"))]
    found = judge(seen, apart, 3)
    assert (set(of(found, MTU)), set(of(found, MTU, "unknown"))) == ({"b"}, {"a", "c"})
    unknown = hosts({"b": {"rails": {"mlx5_0/1": rail(2, mtu=0)}}})
    assert set(of(judge(unknown, tries(), 3), MTU, "unknown")) == {"b"}
    assert of(judge(unknown, tries(), 3), MTU, "pass")["a"].observed == "4096 bytes to 1 hosts"


@pytest.mark.parametrize(
    ("kind", "words", "where", "said"),
    [
        (data.MEMLOCK, {"memlock": "64"}, data.USER, "its user may lock 64 KiB in the container"),
        (data.NO_PROVIDER, {}, data.ROOT, "no provider for mlx5_0"),
        (data.NO_DEVICE, {"devices": ("rdma_cm",)}, data.ROOT, "no /dev/infiniband/uverbs*"),
        (data.NOT_OPENED, {"devices": ("uverbs0",)}, data.USER, "may not open mlx5_0"),
        (data.NO_DEVICE, {}, data.HOST, "mlx5_0 is not there any more"),
        (data.MEMLOCK, {"memlock": "64"}, data.HOST, "its user may lock 64 KiB"),
        (data.PORT, {}, data.HOST, "not up"),
    ],
)
@pytest.mark.parametrize("at", ["client", "server"])
def test_what_an_end_lacks_is_its_own(at: str, kind: str, words: dict[str, Any], where: str, said: str) -> None:
    bent = failure(kind, at=at, **words)
    key = "a_b" if at == "client" else "b_a"
    seen = [
        one if one.where == where else replace(one, **{"state": data.MOVED, "kind": ""})
        for one in tries((where,), **{key: bent})
    ]
    check = VERBS if where == data.HOST else "container.rdma.verbs"
    bad = of(judge(hosts(containers=True), seen, 3), check)
    assert set(bad) == {"a"}
    assert said in bad["a"].cause


def test_a_container_without_rdma_cm_says_so() -> None:
    bent = failure(data.NOT_OPENED, devices=("uverbs0",))
    seen = [replace(one, **bent) if one.test == data.CM and one.client == "a" else one for one in tries((data.ROOT,))]
    bad = of(judge(hosts(containers=True), seen, 3), "container.rdma.cm")
    assert set(bad) == {"a"}
    assert "no /dev/infiniband/rdma_cm" in bad["a"].cause


def test_a_servers_own_words_outweigh_what_the_client_saw() -> None:
    bent = {**LOST, "served": Words(data.MEMLOCK, "Couldn't register MR", "64")}
    bad = of(judge(hosts(), tries(a_b=bent), 3))
    assert set(bad) == {"b"}
    assert "Couldn't register MR" in bad["b"].observed


def test_damaged_data_is_a_failure_of_both_ends() -> None:
    bad = of(judge(hosts(), tries(a_b=failure(data.DAMAGED, at="server")), 3))
    assert set(bad) == {"a", "b"}
    assert "not what was sent" in bad["b"].cause
    sent = [replace(one, **failure(data.DAMAGED, at="server")) if one.client == "a" else one for one in tries()]
    assert set(of(judge(hosts(), sent, 3))) == {"a"}


def test_slow_rails_are_named_and_software_is_not_measured() -> None:
    slow = {"gbps": 100.0}
    seen = [replace(one, **slow) if one.test == data.BANDWIDTH and "b" in one.hosts else one for one in tries()]
    bad = of(judge(hosts(), seen, 3), "fabric.rdma.bandwidth")
    assert set(bad) == {"b"}
    assert (bad["b"].severity, bad["b"].expected) == ("warning", "at least 360 Gb/s")
    soft = {name: {"rails": {"mlx5_0/1": rail(number, soft=True, rate=2.5)}} for number, name in enumerate(NAMES, 1)}
    reported = of(judge(hosts(soft), seen, 3), "fabric.rdma.bandwidth", "pass")
    assert set(reported) == set(NAMES)
    assert "software RDMA: its speed is not judged" in reported["b"].observed
    assert reported["b"].expected_from == "capability"


def test_a_host_that_met_none_but_a_slow_one_is_not_told_to_be_fast() -> None:
    seen = [replace(one, gbps=100.0) if one.test == data.BANDWIDTH and "b" in one.hosts else one for one in tries()]
    found = judge(hosts(), [one for one in seen if one.hosts not in (("a", "c"), ("c", "a"))], 3)
    check = "fabric.rdma.bandwidth"
    assert set(of(found, check)) == {"b"}
    assert "named at b" in of(found, check, "unknown")["a"].cause
    reported = of(judge(hosts(), seen, 3), check, "pass")["a"].observed
    assert reported == "2 of 4 pairs, 391 Gb/s, 2 GiB; not with b (told there)"


def test_the_sites_own_limits_go_first() -> None:
    own = hosts(bandwidth=395.0, latency=1.0)
    found = judge(own, tries(), 3)
    assert set(of(found, "fabric.rdma.bandwidth")) == set(NAMES)
    assert {one.expected_from for one in of(found, "fabric.rdma.latency").values()} == {"inventory"}


def test_a_rate_without_a_floor_only_has_to_carry_data() -> None:
    seen = {n: {"rails": {"mlx5_0/1": rail(i, rate=25.0)}} for i, n in enumerate(NAMES)}
    reported = of(judge(hosts(seen), tries(), 3), "fabric.rdma.bandwidth", "pass")
    assert reported["a"].expected == "data that arrives as it was sent"


def test_what_was_not_tried_is_unknown_with_its_cause() -> None:
    left = {"state": data.UNTESTED, "said": "no program rping", "culprit": "b"}
    found = judge(hosts(), tries(of_b=left), 3)
    assert of(found, VERBS, "unknown")["b"].cause == "no program rping"
    assert set(of(found, VERBS, "pass")) == {"a", "c"}


def test_a_rail_that_is_down_is_unknown_and_named_to_its_partners() -> None:
    both = {name: one for name, one in hosts().items() if name != "c"}
    both["b"] = Host(missing={"mlx5_0/1": "the port is Down"})
    found = judge(both, [], 2)
    assert of(found, VERBS, "unknown")["b"].cause == "the port is Down"
    assert of(found, VERBS, "unknown")["a"].cause == "b: the port is Down"
    both["b"] = Host(missing={"RoCE rails": "closed"})
    assert of(judge(both, [], 2), VERBS, "unknown")["a"].cause == "b: closed"
    assert of(found, VERBS, "pass") == {}


@pytest.mark.parametrize(
    ("bent", "size", "said"),
    [
        ({"off": "ibready_rdma is none"}, 3, "ibready_rdma is none"),
        ({}, 1, "one host"),
    ],
)
def test_what_does_not_apply_is_skipped(bent: dict[str, Any], size: int, said: str) -> None:
    found = judge(hosts(**bent), [], size)
    assert said in of(found, VERBS, "skip")["a"].cause
    assert of(found, VERBS, "pass") == {}


def test_hosts_without_a_container_engine_are_skipped_unless_the_site_names_one() -> None:
    none = {"state": data.UNTESTED, "kind": "no engine", "said": "none here", "culprit": "a"}
    seen = tries((data.ROOT,), **{name: none for name in data.TESTS})
    check = "container.rdma.verbs"
    assert of(judge(hosts(containers=True), seen, 3), check, "skip")["a"].cause == "none here"
    named = judge(hosts(containers=True, engine="docker"), seen, 3)
    assert set(of(named, check, "unknown")) == set(NAMES)


def test_a_host_with_an_engine_whose_partners_have_none_is_not_passed_over() -> None:
    none = {"state": data.UNTESTED, "kind": "no engine", "said": "none here"}
    seen = [
        replace(one, **none, culprit=next(name for name in one.hosts if name != "c")) for one in tries((data.ROOT,))
    ]
    found = judge(hosts(containers=True), seen, 3)
    assert set(of(found, "container.rdma.verbs", "skip")) == {"a", "b"}
    causes = [one.cause for one in found["c"] if one.result == "unknown"]
    assert "a: none here; b: none here" in causes


def test_nothing_passes_where_nobody_looked() -> None:
    found = judge(hosts(containers=True), [], 3)
    assert not [one for checks in found.values() for one in checks if one.result == "pass"]
    assert {one.result for one in found["a"]} == {"unknown"}


def test_a_thousand_hosts_are_judged_soon() -> None:
    many = {f"n{at}": Host(rails={"mlx5_0/1": rail(at % 250)}) for at in range(1000)}
    seen = [replace(one, client=f"n{at}", server=f"n{(at + 1) % 1000}") for at in range(1000) for one in tries()[:4]]
    assert len(of(judge(many, seen, 1000), VERBS, "pass")) == 1000
