# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.plan import Options, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.walk import of_visit
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import (
    Participant,
    Rail,
    meetings,
    tournament,
    untested,
)


@settings(deadline=None, max_examples=40)
@given(st.integers(min_value=0, max_value=40))
def test_every_pair_meets_once_and_nobody_is_busy_twice_in_a_round(count: int) -> None:
    rounds = [meetings(count, number) for number in range(tournament(count))]
    for one in rounds:
        busy = Counter(name for pair in one for name in pair)
        assert max(busy.values(), default=1) == 1
    met = [frozenset(pair) for one in rounds for pair in one]
    assert Counter(met) == Counter(frozenset(pair) for pair in combinations(range(count), 2))


NAMELESS = {"hostname": ""}


def who(*names: str, lid: int = 1, missing: dict[str, str] | None = None) -> Participant:
    rails = {name: Rail(name, name.split("/")[0], 1, lid) for name in names}
    return Participant(rails, missing or {})


def test_a_question_carries_the_lid_of_the_one_who_is_asked() -> None:
    made = plan({"a": who("m0/1", lid=3), "b": who("m0/1", lid=4)}, Options(15))
    assert made["visits"] == 1
    assert of_visit(made, "a", 0) == [{"device": "m0", "port": 1, "lid": 4, "rail": "m0/1", "server": "b", **NAMELESS}]
    assert of_visit(made, "b", 0) == [{"device": "m0", "port": 1, "lid": 3, "rail": "m0/1", "server": "a", **NAMELESS}]
    assert made["serve"] == {
        "a": [{"device": "m0", "port": 1}],
        "b": [{"device": "m0", "port": 1}],
    }


@pytest.mark.parametrize(
    "hosts",
    [
        pytest.param({}, id="no host"),
        pytest.param({"a": who("m0/1")}, id="one host"),
        pytest.param({"a": who("m0/1"), "b": who()}, id="one host able to ping"),
        pytest.param({"a": who("m0/1"), "b": who("m1/1")}, id="no rail in common"),
    ],
)
def test_nobody_serves_where_nobody_can_ask(hosts: dict[str, Participant]) -> None:
    made = plan(hosts, Options(15))
    assert (made["serve"], made["visits"], made["ask"]) == ({}, 0, {})


@pytest.mark.parametrize(("at_once", "turns"), [pytest.param(8, 1, id="at once"), pytest.param(1, 2, id="in turn")])
def test_the_lease_covers_the_slowest_possible_run(at_once: int, turns: int) -> None:
    hosts = {name: who("m0/1", "m1/1") for name in "abcd"}
    made = plan(hosts, Options(15, at_once=at_once))
    assert made["rounds"] == 3
    assert made["lease"] > made["worst_s"] > 3 * turns * 15
    # Four partners of a second pass are more than three rounds; each question has its deadline and ibping's own.
    assert made["visit_s"] == 4 * turns * 20


def test_a_visit_takes_eight_rounds_at_most() -> None:
    hosts = {f"h{number}": who("m0/1") for number in range(14)}
    made = plan(hosts, Options(15))
    assert (made["rounds"], made["visits"], made["visit_s"]) == (13, 2, 8 * 20)


def test_the_lease_grows_where_ansible_works_on_few_hosts_at_a_time() -> None:
    hosts = {name: who("m0/1") for name in "abcd"}
    one, two = (plan(hosts, Options(15, forks=forks))["worst_s"] for forks in (4, 2))
    assert two == 2 * one


def test_what_is_left_out_names_the_host_that_is_the_reason() -> None:
    hosts = {
        "a": who("m0/1"),
        "b": who(missing={"m0/1": "the port is Down"}),
        "c": who(missing={"*": "unreachable"}),
    }
    found = {(one.client, one.server, one.culprit, one.untested) for one in untested(hosts, set())}
    assert found == {
        ("a", "b", "b", "the port is Down"),
        ("a", "c", "c", "unreachable"),
        ("b", "a", "b", "the port is Down"),
        ("b", "c", "b", "the port is Down"),
        ("c", "a", "c", "unreachable"),
        ("c", "b", "c", "unreachable"),
    }


def test_of_a_sample_only_planned_pairs_are_left_out() -> None:
    hosts = {name: who("m0/1") for name in "abc"}
    (left,) = untested(hosts, {("a", "b", "m0/1")}, [("a", "b"), ("b", "a")])
    assert (left.client, left.server) == ("b", "a")


def test_a_pair_that_could_have_been_asked_and_was_not_is_the_client_s() -> None:
    hosts = {"a": who("m0/1"), "b": who("m0/1")}
    (left,) = untested(hosts, {("a", "b", "m0/1")})
    assert (left.client, left.server, left.culprit) == ("b", "a", "b")
    assert left.untested == "it was not asked to ping"
