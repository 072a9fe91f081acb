# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes and actions on cases of which the answer is known."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import LOOK_AGAIN
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import causes
from tests.unit import runs

FAIL, UNKNOWN = "fail", "unknown"


def needing(**remedies: str) -> dict[str, Any]:
    """Hosts, with a failure for each letter: what mends it."""
    return {
        name: runs.judged(runs.check(), *(runs.check(FAIL, subject=one, remedy=one) for one in some))
        for name, some in remedies.items()
    }


def order(judged: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [(one.remedy, one.gain) for one in causes.actions(judged)]


def test_a_failure_is_of_its_own_check_and_an_unknown_of_all_that_it_hides() -> None:
    hidden = [runs.check(UNKNOWN, one, cause="ibstat is not there") for one in ("ib.port.state", "ib.port.rate")]
    wrong = [
        runs.check(FAIL, one, subject, cause="a cable", remedy="swap it")
        for one, subject in (("ib.port.state", "mlx5_0/1"), ("ib.port.rate", "mlx5_1/1"))
    ]
    found = causes.causes({"n1": runs.judged(*hidden), "n2": runs.judged(*hidden, *wrong)})
    assert [(one.result, list(one.checks), list(one.found)) for one in found] == [
        (FAIL, ["ib.port.state"], ["n2"]),
        (FAIL, ["ib.port.rate"], ["n2"]),
        (UNKNOWN, ["ib.port.state", "ib.port.rate"], ["n1", "n2"]),
    ]
    assert [len(one.found["n2"]) for one in found] == [1, 1, 2]


def test_errors_stand_before_warnings_and_the_most_hosts_first() -> None:
    few = runs.check(FAIL, cause="few")
    many = runs.check(FAIL, cause="many")
    mild = runs.check(FAIL, cause="mild", severity="warning")
    blind = runs.check(UNKNOWN, cause="blind")
    judged = {
        "n1": runs.judged(mild, blind),
        "n2": runs.judged(mild, many, blind),
        "n3": runs.judged(mild, many, few, blind),
    }
    found = causes.causes(judged)
    assert [(one.cause, one.error) for one in found] == [
        ("many", True),
        ("few", True),
        ("blind", True),
        ("mild", False),
    ]


def test_a_cause_of_an_error_stays_one_beside_a_warning() -> None:
    blind = [
        runs.check(UNKNOWN, one, cause="no tool", severity=severity)
        for one, severity in (("ib.port.state", "error"), ("ib.port.rate", "warning"))
    ]
    for some in (blind, blind[::-1]):
        (found,) = causes.causes({"n1": runs.judged(*some)})
        assert found.error


def test_what_passed_or_is_waived_has_no_cause_and_needs_no_action() -> None:
    fine = runs.judged(runs.check(), runs.check("skip"), runs.check(FAIL, waived="until x: y"))
    assert causes.causes({"n1": fine}) == []
    assert causes.actions({"n1": fine}) == []


def test_one_remedy_that_mends_most_is_first() -> None:
    assert order(needing(n1="a", n2="b", n3="b", n4="ab")) == [("b", 2), ("a", 2)]


def test_two_that_are_worth_nothing_alone_go_before_one_that_is_worth_less() -> None:
    judged = needing(n1="ab", n2="ab", n3="ab", n4="ab", n5="c")
    assert order(judged) == [("a", 0), ("b", 4), ("c", 1)]


def test_what_is_done_already_is_not_counted_again() -> None:
    # c and d are two actions for three hosts; once a is done, b alone makes two ready.
    judged = needing(n1="a", n2="a", n3="ab", n4="ab", n5="cd", n6="cd", n7="cd")
    assert order(judged) == [("a", 2), ("b", 2), ("c", 0), ("d", 3)]


def test_a_remedy_is_one_action_whatever_it_mends() -> None:
    mixed = runs.judged(
        runs.check(FAIL, "ib.port.rate", cause="old firmware", remedy="site.yml"),
        runs.check(UNKNOWN, "ib.port.state", cause="no tool", remedy="site.yml"),
        runs.check(FAIL, "gpu.count", severity="warning", cause="no driver", remedy="site.yml"),
    )
    (only,) = causes.actions({"n1": mixed, "fabric x": mixed})
    assert (only.remedy, only.why, only.looks) == ("site.yml", "", True)
    assert (only.touches, only.findings, only.readies) == (
        ("n1", "fabric x"),
        6,
        ("n1", "fabric x"),
    )


def test_to_look_again_is_another_action_for_each_cause() -> None:
    judged = {
        name: runs.judged(runs.check(UNKNOWN, cause=cause, remedy=LOOK_AGAIN))
        for name, cause in (("n1", "no root"), ("n2", "no ssh"), ("n3", "no ssh"))
    }
    assert [(one.why, one.gain, one.looks) for one in causes.actions(judged)] == [
        ("no ssh", 2, True),
        ("no root", 1, True),
    ]


REMEDIES = st.dictionaries(
    st.sampled_from([f"n{number}" for number in range(12)]),
    st.text(st.sampled_from("abcdefg"), min_size=1, max_size=4),
)


@given(REMEDIES)
def test_every_place_is_made_ready_once_by_the_last_action_that_it_needs(
    needs: dict[str, str],
) -> None:
    found = causes.actions(needing(**needs))
    assert sorted(place for one in found for place in one.readies) == sorted(needs)
    assert sorted({letter for some in needs.values() for letter in some}) == sorted(one.remedy for one in found)
    done: set[str] = set()
    for one in found:
        assert set(one.touches) == {name for name, some in needs.items() if one.remedy in some}
        done.add(one.remedy)
        for place in one.readies:
            assert set(needs[place]) <= done
            assert one.remedy in needs[place]


@given(st.dictionaries(st.sampled_from("123456789"), st.sampled_from("abcd"), min_size=1))
def test_where_each_needs_one_action_the_order_is_by_how_many(needs: dict[str, str]) -> None:
    gains = [gain for _, gain in order(needing(**needs))]
    counts = [list(needs.values()).count(one) for one in set(needs.values())]
    assert gains == sorted(counts, reverse=True)


def test_what_goes_with_another_finding_needs_no_action_of_its_own() -> None:
    after = "mend ib.port.state or roce.port.state first"
    down = [runs.check(FAIL, "ib.port.state", subject=port, remedy=port) for port in ("p1", "p2")]
    rate = runs.check(UNKNOWN, "ib.port.rate", subject="p2", remedy=after)
    data = runs.check(UNKNOWN, "fabric.rdma.cm", subject="p3", remedy="mend ib.port.rate first")
    found = causes.actions({"n1": runs.judged(*down, rate, data)})
    assert [(one.remedy, one.findings, one.looks) for one in found] == [
        ("p1", 1, False),
        ("p2", 3, True),
    ]


def test_what_goes_with_another_finding_has_its_cause() -> None:
    down = runs.check(FAIL, "ib.port.state", cause="the cable is pulled")
    first = "mend ib.port.state first"
    rate = runs.check(UNKNOWN, "ib.port.rate", cause="it is down", remedy=first)
    both, alone = runs.judged(rate, down), runs.judged(rate)
    found = causes.causes({"n1": both, "n2": alone})
    assert [(one.result, one.cause, list(one.checks), list(one.found)) for one in found] == [
        (FAIL, "the cable is pulled", ["ib.port.state", "ib.port.rate"], ["n1"]),
        (UNKNOWN, "it is down", ["ib.port.rate"], ["n2"]),
    ]


def test_one_thing_that_is_wrong_for_one_reason_is_one_cause_and_one_action() -> None:
    pulled = [
        runs.check(FAIL, one, cause="the cable is pulled", remedy=f"look at {one}")
        for one in ("ib.port.state", "ib.port.physical_state")
    ]
    other = runs.check(FAIL, "ib.port.physical_state", "mlx5_1/1", cause="the cable is pulled")
    judged = {"n1": runs.judged(*pulled, other)}
    found = causes.causes(judged)
    assert [list(one.checks) for one in found] == [
        ["ib.port.state", "ib.port.physical_state"],
        ["ib.port.physical_state"],
    ]
    assert [one.remedy for one in causes.actions(judged)] == [
        "look at ib.port.state",
        other.remedy,
    ]


def test_twins_lead_to_what_is_to_be_mended_first_in_any_order() -> None:
    first = runs.check(FAIL, "ib.port.state", "p2", cause="z", remedy="fix z")
    one = runs.check(FAIL, "ib.port.rate", "p1", cause="c", remedy="mend ib.port.state first")
    twin = runs.check(FAIL, "ib.port.lid", "p1", cause="c", remedy="fix a")
    for some in permutations((first, one, twin)):
        found = causes.actions({"n1": runs.judged(*some)})
        assert "mend ib.port.state first" not in [action.remedy for action in found]


def test_a_warning_is_no_error_s_twin() -> None:
    both = [runs.check(FAIL, cause="x", severity=one) for one in ("error", "warning")]
    assert len(causes.causes({"n1": runs.judged(*both)})) == 2


def test_what_a_fabric_says_of_a_host_s_port_has_the_cause_of_the_host() -> None:
    first = "mend ib.port.state first"
    down = runs.check(FAIL, "ib.port.state", "mlx5_1/1", cause="the cable is pulled")
    mine = runs.check(FAIL, "fabric.hca.present", "mlx5_1/1", cause="it is Down", remedy=first)
    reported = runs.check(FAIL, "fabric.hca.present", "n1 mlx5_1/1", cause="it is Down", remedy=first)
    judged = {"n1": runs.judged(down, mine), "fabric a": runs.judged(reported)}
    (found,) = causes.causes(judged)
    assert found.cause == "the cable is pulled"
    assert list(found.found) == ["n1", "fabric a"]
    (action,) = causes.actions(judged)
    assert action.readies == ("n1", "fabric a")
    # Another port of that host is not what is meant.
    other = runs.check(FAIL, "fabric.hca.present", "n1 mlx5_0/1", cause="x", remedy=first)
    assert len(causes.causes({**judged, "fabric a": runs.judged(reported, other)})) == 2


def test_what_goes_with_a_finding_that_is_not_there_is_an_action() -> None:
    one, other = "mend b.c first", "mend a.c first"
    alone = runs.judged(runs.check(UNKNOWN, "a.c", remedy=one))
    each_other = runs.judged(runs.check(UNKNOWN, "a.c", remedy=one), runs.check(UNKNOWN, "b.c", remedy=other))
    assert len(causes.actions({"n1": alone})) == 1
    assert sum(action.findings for action in causes.actions({"n1": each_other})) == 2
