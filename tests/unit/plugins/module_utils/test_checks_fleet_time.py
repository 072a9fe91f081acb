# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_time import Visit, judge
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check

EPOCH = 1_795_000_000.0


def visit(off: float = 0.0, at: float = 100.0, before: float = 0.4, took: float = 8.0, after: float = 0.2) -> Visit:
    """A visit of a host whose clock is ``off`` by so many seconds."""
    began = at + before
    return Visit(at, began + took + after, EPOCH + began + off, EPOCH + began + took + off)


def told(*visits: Visit | None, size: int = 0) -> list[Check]:
    named = {str(number): one for number, one in enumerate(visits)}
    return [mine[0] for mine in judge(named, size or len(visits), {}).values()]


def results(*visits: Visit | None, size: int = 0) -> list[str]:
    return [one.result for one in told(*visits, size=size)]


def test_hosts_that_may_have_one_time_pass_and_say_how_surely() -> None:
    found = told(visit(), visit(0.1, at=103.0), visit(-0.1, at=160.0))
    assert [one.result for one in found] == ["pass"] * 3
    assert all(one.observed.startswith("no more than 0.") for one in found)
    assert found[0].expected_from == "fleet 3/3"


@pytest.mark.parametrize(
    ("off", "says"),
    [(5.0, "at least 4.4 s ahead"), (-90.0, "at least 89 s behind"), (4000.0, "3999 s ahead")],
)
def test_the_one_that_is_surely_off_is_named(off: float, says: str) -> None:
    found = told(visit(), visit(off), visit())
    assert [one.result for one in found] == ["pass", "fail", "pass"]
    assert says in found[1].observed


def test_what_is_less_than_the_way_there_and_back_cannot_be_seen() -> None:
    assert results(visit(), visit(0.5), visit()) == ["pass"] * 3


def test_two_that_surely_differ_are_unknown_and_two_that_may_not_pass() -> None:
    assert results(visit(), visit(5.0)) == ["unknown"] * 2
    assert results(visit(), visit(0.1)) == ["pass"] * 2
    assert "no majority" in told(visit(), visit(5.0))[0].cause


def test_half_of_the_hosts_are_no_majority() -> None:
    assert results(visit(), visit(), visit(9.0), visit(9.0)) == ["unknown"] * 4


def test_a_host_whose_clock_tells_nothing_is_unknown_and_the_others_are_not() -> None:
    stepped = replace(visit(), ended=visit().ended + 60)
    vague = visit(before=400.0)
    for odd in (None, stepped, vague):
        assert results(visit(), odd, visit(), visit()) == ["pass", "unknown", "pass", "pass"]


def test_one_host_has_no_other_to_be_compared_with() -> None:
    assert results(visit()) == ["skip"]
    assert results(visit(), size=3) == ["unknown"]
    assert results(None, None) == ["unknown"] * 2


def test_a_bundle_has_no_visit() -> None:
    found = judge({"a": None, "b": visit(), "c": visit()}, 3, {"a": "a bundle"})
    assert [found[name][0].result for name in "abc"] == ["skip", "pass", "pass"]


OFFS = st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=20)
WAYS = st.floats(0.3, 5.0)


@given(OFFS, st.data())
def test_clocks_that_agree_never_fail(offs: list[float], data: st.DataObject) -> None:
    # Whatever the way to each of them takes, and whenever it is asked.
    visits = [
        visit(off, at=data.draw(st.floats(0, 3600)), before=data.draw(WAYS), after=data.draw(WAYS)) for off in offs
    ]
    assert set(results(*visits)) == {"pass"}


@given(st.integers(3, 20), st.floats(30, 1e6), st.booleans(), st.data())
def test_one_that_is_far_off_always_fails_and_no_other(
    hosts: int, off: float, ahead: bool, data: st.DataObject
) -> None:
    visits = [visit(before=data.draw(WAYS), after=data.draw(WAYS)) for _ in range(hosts)]
    visits[1] = visit(off if ahead else -off, before=data.draw(WAYS), after=data.draw(WAYS))
    assert results(*visits) == ["pass", "fail", *["pass"] * (hosts - 2)]
