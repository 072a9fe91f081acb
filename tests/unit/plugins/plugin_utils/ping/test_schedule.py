# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every schedule, whatever the hosts, their rails and their leaf switches."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.schedule import (
    Desired,
    Meeting,
    Schedule,
    left_out,
    schedule,
)

RAILS = [f"mlx5_{number}/1" for number in range(4)]


def even(count: int, rails: int = 2) -> dict[str, set[str]]:
    """So many hosts with the same rails."""
    return {f"n{number}": set(RAILS[:rails]) for number in range(count)}


def below(hosts: dict[str, set[str]], size: int) -> dict[tuple[str, str], str]:
    """Leaf switches of so many hosts each, one for every rail: rail-optimised."""
    return {
        (name, rail): f"{number // size}-{rail}" for number, (name, rails) in enumerate(hosts.items()) for rail in rails
    }


def pairs(made: Schedule) -> list[frozenset[str]]:
    return [frozenset(pair) for met in made.rounds for pair in met]


def partners(rounds: list[list[Meeting]]) -> Counter[str]:
    return Counter(name for met in rounds for pair in met for name in pair)


some_hosts = st.lists(st.sets(st.sampled_from(RAILS)), max_size=40).map(
    lambda rails: {f"n{number}": mine for number, mine in enumerate(rails)}
)
wishes = st.builds(
    Desired,
    full=st.integers(0, 12),
    rounds=st.integers(1, 6),
    seed=st.integers(0, 5),
    fit=st.none() | st.integers(0, 50),
)


@settings(deadline=None, max_examples=200)
@given(some_hosts, wishes, st.integers(1, 8))
def test_nobody_is_busy_twice_in_a_round_and_no_pair_meets_twice(
    hosts: dict[str, set[str]], wish: Desired, size: int
) -> None:
    made = schedule(hosts, wish, below(hosts, size))
    for met in made.rounds:
        assert max(Counter(name for pair in met for name in pair).values()) == 1
    assert max(Counter(pairs(made)).values(), default=1) == 1
    assert all(hosts[one] & hosts[two] for met in made.rounds for one, two in met)
    assert wish.fit is None or len(made.rounds) <= wish.fit


@settings(deadline=None, max_examples=200)
@given(some_hosts, wishes, st.integers(1, 8))
def test_with_time_enough_every_rail_of_every_host_takes_part(
    hosts: dict[str, set[str]], wish: Desired, size: int
) -> None:
    unbound = Desired(wish.full, wish.rounds, wish.seed)
    assert left_out(hosts, schedule(hosts, unbound, below(hosts, size)).rounds) == {}


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(2, 8), st.integers(0, 3))
def test_a_sample_gives_everybody_equally_many_partners(count: int, rounds: int, seed: int) -> None:
    made = schedule(even(count), Desired(full=1, rounds=rounds, seed=seed))
    seen = partners(made.rounds)
    most = min(rounds, count - 1)
    assert made.sampled == (len(pairs(made)) < count * (count - 1) // 2)
    # With an odd number of hosts one sits out in every round, and no host twice.
    assert {seen[f"n{number}"] for number in range(count)} <= {most, most - count % 2}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 40))
def test_up_to_the_bound_everybody_meets_everybody(count: int) -> None:
    made = schedule(even(count), Desired(full=40))
    assert not made.sampled
    assert sorted(map(sorted, pairs(made))) == sorted(map(sorted, combinations(even(count), 2)))


def test_a_seed_gives_the_same_sample_again_and_another_seed_another() -> None:
    hosts = even(100)
    first, again, other = (schedule(hosts, Desired(seed=seed)) for seed in (7, 7, 8))
    assert first == again
    assert set(pairs(first)) != set(pairs(other))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("count", "size"),
    [
        pytest.param(64, 8, id="8 leaves of 8"),
        pytest.param(256, 32, id="8 leaves of 32"),
        pytest.param(600, 15, id="40 leaves of 15, three ways between two of them"),
    ],
)
def test_every_leaf_meets_every_leaf_and_every_host_leaves_its_own(count: int, size: int, seed: int) -> None:
    hosts = even(count)
    leaves = below(hosts, size)
    made = schedule(hosts, Desired(full=2, seed=seed), leaves)
    assert partners(made.rounds) == dict.fromkeys(hosts, 8)
    rail = RAILS[0]
    ways = {frozenset((leaves[one, rail], leaves[two, rail])) for met in made.rounds for one, two in met}
    switches = set(leaves.values()) & {f"{number}-{rail}" for number in range(count)}
    assert {way for way in ways if len(way) == 2} == set(map(frozenset, combinations(switches, 2)))
    away = {
        name for met in made.rounds for pair in met for name in pair if leaves[pair[0], rail] != leaves[pair[1], rail]
    }
    assert away == set(hosts)


def test_of_many_small_leaves_no_pair_meets_twice_either() -> None:
    hosts = even(24)
    for seed in range(40):
        made = schedule(hosts, Desired(full=2, rounds=6, seed=seed), below(hosts, 2))
        assert len(set(pairs(made))) == len(pairs(made)) == 6 * 12


def test_a_rare_rail_gets_rounds_of_its_own() -> None:
    hosts = even(200, rails=1)
    for name in ("n3", "n117", "n190"):
        hosts[name] = {RAILS[0], RAILS[3]}
    made = schedule(hosts, Desired(rounds=2))
    assert len(made.rounds) > 2
    rare = [pair for pair in pairs(made) if all(RAILS[3] in hosts[name] for name in pair)]
    assert {name for pair in rare for name in pair} == {"n3", "n117", "n190"}


def test_a_rail_that_one_host_alone_has_asks_for_no_round() -> None:
    hosts = even(40, rails=1) | {"odd": {RAILS[0], RAILS[3]}}
    assert len(schedule(hosts, Desired(rounds=2)).rounds) == 2


@pytest.mark.parametrize(
    ("count", "fit", "sampled", "rounds"),
    [
        pytest.param(10, 9, False, 9, id="a full mesh that fits"),
        pytest.param(10, 8, True, 8, id="one round too many: a sample"),
        pytest.param(100, 3, True, 3, id="a sample that is cut"),
        pytest.param(100, 0, True, 0, id="no time at all"),
    ],
)
def test_there_are_only_as_many_rounds_as_there_is_time_for(count: int, fit: int, sampled: bool, rounds: int) -> None:
    made = schedule(even(count), Desired(fit=fit))
    assert (made.sampled, len(made.rounds)) == (sampled, rounds)
