# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is compared with whom, and that a majority is what most have."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_same import (
    NO_MAJORITY,
    Group,
    Kind,
    groups,
    same,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check

H100 = Kind("SYS-821 x86_64", "ubuntu 24.04", frozenset({"H100"}), frozenset({"MT4129"}))
H200 = Kind("SYS-821 x86_64", "ubuntu 24.04", frozenset({"H200"}), frozenset({"MT4129"}))
MIXED = Kind("SYS-821 x86_64", "ubuntu 24.04", frozenset({"H200"}), frozenset({"MT4123"}))
ROCKY = Kind("SYS-821 x86_64", "rocky 9.4", frozenset({"H100"}), frozenset({"MT4129"}))
A100 = Kind("G492 x86_64", "ubuntu 22.04", frozenset({"A100"}), frozenset({"MT4123"}))


def split(*kinds: Kind) -> list[list[int]]:
    """The places of those that are compared with each other."""
    found = groups({str(at): kind for at, kind in enumerate(kinds)}, len(kinds))
    return sorted(sorted(map(int, one.hosts)) for one in found)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        pytest.param((H100, H100), [[0, 1]], id="two equal ones"),
        pytest.param((H100, H200), [[0, 1]], id="two of one product may be wrong"),
        pytest.param((H100, A100), [[0], [1]], id="two products are two platforms"),
        pytest.param((H100, H100, H100, H200, H200, H200), [[0, 1, 2], [3, 4, 5]], id="three are a class"),
        pytest.param((H100, H100, H100, H200), [[0, 1, 2, 3]], id="one alone joins its product"),
        pytest.param((*[H100] * 4, *[H200] * 3, MIXED), [[0, 1, 2, 3], [4, 5, 6, 7]], id="the likest class"),
        pytest.param((Kind(), Kind(), Kind()), [[0, 1, 2]], id="nothing told"),
        pytest.param((*[H100] * 3, ROCKY, ROCKY), [[0, 1, 2], [3, 4]], id="two of another distribution are meant"),
        pytest.param((*[H100] * 6, ROCKY, ROCKY), [[0, 1, 2, 3, 4, 5], [6, 7]], id="a quarter is meant"),
        pytest.param((*[H100] * 20, ROCKY, ROCKY), [list(range(22))], id="two of twenty-two may be wrong"),
        pytest.param((*[H100] * 3, ROCKY), [[0, 1, 2, 3]], id="one of another distribution may be wrong"),
        pytest.param((*[H100] * 3, H200, H200), [[0, 1, 2, 3, 4]], id="two of another GPU may be wrong"),
    ],
)
def test_who_is_compared_with_whom(kinds: tuple[Kind, ...], expected: list[list[int]]) -> None:
    assert split(*kinds) == expected


def test_only_a_host_of_a_whole_inventory_is_surely_the_only_one_of_its_kind() -> None:
    kinds = {"a": H100, "b": H100, "c": A100}
    alone = {one.hosts: one.alone for one in groups(kinds, 3)}
    assert alone["a", "b"] == ""
    assert "G492" in alone["c",]
    assert {one.alone for one in groups(kinds, 4)} == {""}
    assert {one.alone for one in groups({**kinds, "c": Kind()}, 3)} == {""}


KINDS = st.lists(st.sampled_from((H100, H200, MIXED, A100, Kind())), max_size=30)


@given(KINDS)
def test_every_host_is_in_one_group_and_three_of_one_kind_stay_together(kinds: list[Kind]) -> None:
    found = split(*kinds)
    assert sorted(at for one in found for at in one) == list(range(len(kinds)))
    where = {at: number for number, one in enumerate(found) for at in one}
    for kind, times in Counter(kinds).items():
        homes = {where[at] for at, one in enumerate(kinds) if one == kind}
        assert len(homes) == 1
        others = {kinds[at] for at in found[homes.pop()]} - {kind}
        assert all(one.product == kind.product for one in others)
        if times >= 3:
            assert all(kinds.count(one) < 3 for one in others)


VALUES = st.dictionaries(st.integers(0, 40).map(str), st.sampled_from(("", "1", "2", "3\n4", "none")), max_size=25)


def judged(values: dict[str, str]) -> dict[str, Check]:
    checks: dict[str, list[Check]] = {host: [] for host in values}
    same("fleet.driver.version", "host", values, checks, Group(tuple(values)))
    return {host: mine[0] for host, mine in checks.items() if mine}


@given(VALUES)
def test_a_majority_fails_the_others_and_without_one_nobody_fails(values: dict[str, str]) -> None:
    found = judged(values)
    known = [one for one in values.values() if one]
    usual, times = Counter(known).most_common(1)[0] if known else ("", 0)
    majority = len(known) >= 3 and 2 * times > len(known)
    agree = len(known) > 1 and times == len(known)
    for host, check in found.items():
        if not values[host]:
            assert check.result == "unknown"
        elif majority:
            assert check.result == ("pass" if values[host] == usual else "fail")
            assert check.expected_from == f"fleet {times}/{len(known)}"
        elif agree:
            assert check.result == "pass"
        else:
            assert check.result == "unknown"
            assert len(known) == 1 or check.cause.startswith(NO_MAJORITY)
    failing = sum(one.result == "fail" for one in found.values())
    assert 2 * failing < max(len(known), 1)


@given(VALUES, st.randoms())
def test_the_order_of_the_hosts_changes_nothing(values: dict[str, str], random: object) -> None:
    names = list(values)
    random.shuffle(names)  # type: ignore[attr-defined]
    before = {host: (one.result, one.observed) for host, one in judged(values).items()}
    after = judged({name: values[name] for name in names})
    for host, (result, observed) in before.items():
        assert after[host].result == result
        if result in ("pass", "fail"):
            assert after[host].observed == observed


@given(VALUES)
def test_a_host_more_that_has_what_most_have_changes_no_majority(values: dict[str, str]) -> None:
    found = judged(values)
    usual = {one.expected for one in found.values() if one.result == "fail"}
    if not usual:
        return
    value = next(one for host, one in values.items() if found[host].result == "pass")
    more = judged({**values, "another": value})
    assert {host: one.result for host, one in found.items()} == {
        host: one.result for host, one in more.items() if host != "another"
    }
    assert more["another"].result == "pass"
