# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._ping_plan import plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._rounds import (
    Participant,
    Rail,
    pairings,
    untested,
)


@settings(deadline=None, max_examples=40)
@given(st.integers(min_value=0, max_value=40))
def test_every_ordered_pair_meets_once_and_nobody_is_busy_twice_in_a_round(count: int) -> None:
    hosts = [f"n{index}" for index in range(count)]
    rounds = pairings(hosts)
    for one in rounds:
        busy = Counter(name for pair in one for name in pair)
        assert max(busy.values()) == 1
    met = [pair for one in rounds for pair in one]
    assert Counter(met) == Counter(permutations(hosts, 2))


NAMELESS = {"hostname": ""}


def who(*names: str, lid: int = 1, missing: dict[str, str] | None = None) -> Participant:
    rails = {name: Rail(name, name.split("/")[0], 1, lid) for name in names}
    return Participant(rails, missing or {})


def test_a_question_carries_the_lid_of_the_one_who_is_asked() -> None:
    made = plan({"a": who("m0/1", lid=3), "b": who("m0/1", lid=4)}, 15)
    assert made["rounds"] == [
        {"a": [{"device": "m0", "port": 1, "lid": 4, "rail": "m0/1", "server": "b", **NAMELESS}]},
        {"b": [{"device": "m0", "port": 1, "lid": 3, "rail": "m0/1", "server": "a", **NAMELESS}]},
    ]
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
    made = plan(hosts, 15)
    assert (made["serve"], made["rounds"]) == ({}, [])


def test_the_lease_covers_the_slowest_possible_run() -> None:
    hosts = {name: who("m0/1", "m1/1") for name in "abcd"}
    made = plan(hosts, deadline=15)
    assert len(made["rounds"]) == 6
    assert made["lease"] > 6 * 2 * 15


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


def test_a_pair_that_could_have_been_asked_and_was_not_is_the_client_s() -> None:
    hosts = {"a": who("m0/1"), "b": who("m0/1")}
    (left,) = untested(hosts, {("a", "b", "m0/1")})
    assert (left.client, left.server, left.culprit) == ("b", "a", "b")
    assert left.untested == "it was not asked to ping"
