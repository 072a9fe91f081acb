# SPDX-License-Identifier: GPL-3.0-or-later
"""Who measures against whom: nobody twice at one time, everybody against enough others."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import perftest
from ansible_collections.ibready.cluster.plugins.module_utils._data import bench as data
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail


def member(name: str, *rails: str, gpus: bool = False) -> plan.Member:
    made = {one: Rail(one, one.partition("/")[0], 1, 0) for one in rails}
    return plan.Member(f"10.0.0.{name}", made, gpus)


@given(st.integers(0, 40), st.integers(1, 6))
def test_every_host_is_busy_once_a_round_and_meets_enough_others(count: int, partners: int) -> None:
    hosts = [f"n{at}" for at in range(count)]
    rounds = plan.meetings(hosts, partners)
    met: set[tuple[str, str]] = set()
    for one in rounds:
        busy = Counter(name for pair in one for name in pair)
        assert set(busy.values()) <= {1}
        assert not met.intersection(one)
        met.update(one)
    assert {(two, one) for one, two in met} == met
    most = min(partners, max(count - 1, 0))
    for host in hosts:
        assert len({server for client, server in met if client == host}) >= most
    assert len(rounds) <= 2 * (partners + 1)


def test_two_thousand_hosts_take_as_many_rounds_as_ten() -> None:
    many, few = (plan.meetings([f"n{at}" for at in range(count)], 3) for count in (2000, 10))
    assert len(many) == len(few) == 6


def test_both_ends_meet_at_one_port_with_one_test() -> None:
    members = {
        "n1": member("1", "mlx5_0/1", "mlx5_1/1"),
        "n2": member("2", "mlx5_0/1", "mlx5_9/1"),
        "n3": member("3"),
    }
    made = plan.plan(members, plan.Desired((data.WRITE_BW, data.READ_LAT), seconds=5))
    first, second = made["rounds"]
    assert set(first["serve"]) == {"n2"}
    assert set(second["serve"]) == {"n1"}
    for served, asked in zip(first["serve"]["n2"], first["ask"]["n1"], strict=True):
        assert perftest.end(served) == perftest.end(asked)
        assert asked["address"] == "10.0.0.2"
        assert (asked["server"], asked["rail"]) == ("n2", "mlx5_0/1")
    assert [one["tcp_port"] for one in first["serve"]["n2"]] == [18515, 18516]
    # A server outlives all that is measured before its turn comes.
    assert made["lease"] >= (15 + 5) + 15


def test_servers_wait_longer_where_ansible_works_on_fewer_hosts() -> None:
    members = {f"n{at}": member(str(at), "a/1") for at in range(40)}
    few, many = (plan.plan(members, plan.Desired(("write_bw",), forks=at)) for at in (5, 20))
    assert (few["lease"], many["lease"]) == (4 * 20 + 60, 20 + 60)


@pytest.mark.parametrize(("both", "tests"), [(True, ["write_bw_gpu"]), (False, [])])
def test_gpu_memory_is_measured_where_both_hosts_have_gpus(both: bool, tests: list[str]) -> None:
    members = {"n1": member("1", "a/1", gpus=True), "n2": member("2", "a/1", gpus=both)}
    made = plan.plan(members, plan.Desired((data.WRITE_BW_GPU,)))
    asked = [one["test"] for each in made["rounds"][:1] for one in each["ask"]["n1"]]
    assert asked == tests


def test_nobody_to_measure_against_is_no_round() -> None:
    made = plan.plan({"n1": member("1", "a/1"), "n2": member("2")}, plan.Desired(("write_bw",)))
    assert made["rounds"] == []
