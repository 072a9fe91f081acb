# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in a simulated fabric are named, and nobody else is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping import Ping
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping_faults import (
    HOST,
    LEAF,
    PORT,
    RAIL,
    WAY,
    Fault,
    Tried,
    find,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping import again as module
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.again import again
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.plan import Options, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.walk import planned
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Participant, Rail

RAILS = tuple(f"mlx5_{number}/1" for number in range(3))
# Whether two hosts lose pings on a rail.
Lose = Callable[[str, str, str], bool]


class Fabric:
    """So many leaf switches a rail, each with so many hosts; what is planted in it loses pings."""

    def __init__(self, leaves: int, size: int, seed: int, full: int) -> None:
        self.hosts = [f"n{number}" for number in range(leaves * size)]
        self.leaves = {
            (host, rail): f"leaf{number // size} {rail}" for number, host in enumerate(self.hosts) for rail in RAILS
        }
        who = {
            host: Participant({rail: Rail(rail, rail.split("/")[0], 1, 1) for rail in RAILS}, {}) for host in self.hosts
        }
        self.plan = plan(who, Options(15, full=full, seed=seed, leaves=self.leaves))

    def leaf(self, host: str, rail: str) -> str:
        return self.leaves[host, rail]

    def of(self, leaf: str) -> tuple[str, ...]:
        return tuple(sorted(host for (host, _), one in self.leaves.items() if one == leaf))

    def found(self, lose: Lose) -> set[Fault]:
        """What both passes tell."""
        first = [self._ping(client, server, rail, lose) for client, server in planned(self.plan) for rail in RAILS]
        second = [
            self._ping(client, server, rail, lose)
            for client, asked in again(self.plan, first, self.leaves).items()
            for server, rail in asked
        ]
        tried = [Tried(one.client, one.server, one.rail, one.lost) for one in first + second]
        return set(find(tried, self.leaves))

    @staticmethod
    def _ping(client: str, server: str, rail: str, lose: Lose) -> Ping:
        return Ping(client, server, rail, 50, 0 if lose(client, server, rail) else 50)


def told(found: set[Fault]) -> set[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return {(one.kind, one.rails, one.hosts) for one in found}


# Full meshes and samples, of leaves that one bad host does not make up half of.
fabrics = st.builds(
    Fabric,
    leaves=st.integers(2, 6),
    size=st.integers(3, 8),
    seed=st.integers(0, 9),
    full=st.sampled_from((2, 100)),
)
check = settings(deadline=None, max_examples=60)


@check
@given(fabrics)
def test_a_healthy_fabric_has_no_fault(fabric: Fabric) -> None:
    assert fabric.found(lambda *_: False) == set()


@check
@given(fabrics, st.data())
def test_a_planted_host_is_named_and_nobody_else(fabric: Fabric, data: st.DataObject) -> None:
    bad = data.draw(st.sampled_from(fabric.hosts))
    found = fabric.found(lambda one, two, _: bad in (one, two))
    assert told(found) == {(HOST, RAILS, (bad,))}


@check
@given(fabrics, st.data())
def test_a_planted_port_is_named_and_nobody_else(fabric: Fabric, data: st.DataObject) -> None:
    bad, on = data.draw(st.sampled_from(fabric.hosts)), data.draw(st.sampled_from(RAILS))
    found = fabric.found(lambda one, two, rail: rail == on and bad in (one, two))
    assert told(found) == {(PORT, (on,), (bad,))}


@check
@given(fabrics, st.data())
def test_two_planted_ports_are_both_named(fabric: Fabric, data: st.DataObject) -> None:
    bad = data.draw(
        st.lists(
            st.tuples(st.sampled_from(fabric.hosts), st.sampled_from(RAILS)),
            min_size=2,
            max_size=2,
            unique_by=lambda port: port[0],
        )
    )
    found = fabric.found(lambda one, two, rail: (one, rail) in bad or (two, rail) in bad)
    assert told(found) == {(PORT, (rail,), (host,)) for host, rail in bad}


@check
@given(fabrics, st.data())
def test_a_planted_leaf_is_named_with_all_its_hosts(fabric: Fabric, data: st.DataObject) -> None:
    port = data.draw(st.tuples(st.sampled_from(fabric.hosts), st.sampled_from(RAILS)))
    bad = fabric.leaf(*port)
    found = fabric.found(lambda one, two, rail: bad in (fabric.leaf(one, rail), fabric.leaf(two, rail)))
    assert {(one.kind, one.leaf, one.hosts) for one in found} == {(LEAF, bad, fabric.of(bad))}


@check
@given(fabrics, st.data())
def test_a_leaf_without_uplinks_is_named_and_its_hosts_reach_each_other(fabric: Fabric, data: st.DataObject) -> None:
    port = data.draw(st.tuples(st.sampled_from(fabric.hosts), st.sampled_from(RAILS)))
    bad = fabric.leaf(*port)

    def lose(one: str, two: str, rail: str) -> bool:
        ends = {fabric.leaf(one, rail), fabric.leaf(two, rail)}
        return bad in ends and len(ends) > 1

    named = {one.leaf for one in fabric.found(lose) if one.kind == LEAF}
    leaves = {leaf for leaf in fabric.leaves.values() if leaf.endswith(port[1])}
    # Of two that do not reach each other nobody can tell which it is.
    assert named == (leaves if len(leaves) == 2 else {bad})


@check
@given(fabrics, st.data())
def test_a_planted_way_is_laid_at_both_ends(fabric: Fabric, data: st.DataObject) -> None:
    pairs = sorted({tuple(sorted(pair)) for pair in planned(fabric.plan)})
    ends = data.draw(st.sampled_from(pairs))
    on = data.draw(st.sampled_from(RAILS))
    found = fabric.found(lambda one, two, rail: rail == on and {one, two} == set(ends))
    assert told(found) == {(WAY, (on,), ends)}


edges = st.dictionaries(st.sets(st.sampled_from("abcdefg"), min_size=2, max_size=2).map(frozenset), st.booleans())


@settings(deadline=None, max_examples=300)
@given(edges, st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(["L", "M", ""])))
def test_whatever_happens_every_bad_pair_is_laid_at_one_end_at_least(
    seen: dict[frozenset[str], bool], at: dict[str, str]
) -> None:
    leaves = {(host, RAILS[0]): leaf for host, leaf in at.items()}
    outcomes = [Tried(*sorted(edge), RAILS[0], bad) for edge, bad in seen.items()]
    named = {host for fault in find(outcomes, leaves) for host in fault.hosts}
    assert all(edge & named for edge, bad in seen.items() if bad)
    struck = {host for edge, bad in seen.items() if bad for host in edge}
    assert named <= struck


def tried(bad: str, good: str = "") -> list[Tried]:
    """``ab ac``: pairs that lose, and that do not."""
    return [Tried(pair[0], pair[1], RAILS[0], pairs is bad) for pairs in (bad, good) for pair in pairs.split()]


LEAVES = {(host, RAILS[0]): leaf for leaf, hosts in {"L": "abc", "M": "de", "N": "f"}.items() for host in hosts}


@pytest.mark.parametrize(
    ("seen", "faults"),
    [
        pytest.param(tried("ab"), {(WAY, "ab")}, id="two hosts: either"),
        pytest.param(tried("ab", "ac bc"), {(WAY, "ab")}, id="one way of three"),
        pytest.param(tried("ab ac", "bc"), {(PORT, "a")}, id="one of three hosts"),
        pytest.param(tried("ab ac bc"), {(RAIL, "abc")}, id="nobody is known to be good"),
        pytest.param(tried("ab ac ad ae", "bc bd be cd ce de"), {(PORT, "a")}, id="one of a leaf is no leaf"),
        pytest.param(tried("ab ac ad ae bc bd be cd ce", "de"), {(LEAF, "abc")}, id="all of a leaf are"),
        pytest.param(tried("ad ae", "ab ac bc bd be cd ce de"), {(WAY, "a")}, id="nobody of another leaf"),
        pytest.param(tried("ad ae", "ab df ef"), {(WAY, "a")}, id="one of a leaf is not its uplinks"),
        pytest.param(tried("ad bd", "ab"), {(PORT, "d")}, id="a port is likelier than uplinks"),
        pytest.param(tried("ad ae bd be", "de"), {(LEAF, "ab")}, id="a leaf of which nothing good is known"),
    ],
)
def test_what_few_pairs_tell(seen: list[Tried], faults: set[tuple[str, str]]) -> None:
    assert {(one.kind, "".join(one.hosts)) for one in find(seen, LEAVES)} == faults


def test_without_leaves_every_host_of_a_dead_leaf_is_named() -> None:
    seen = tried("ab ac ad ae bc bd be cd ce", "de")
    assert {(one.kind, one.hosts) for one in find(seen, {})} == {(PORT, (name,)) for name in "abc"}


def test_a_pair_that_failed_once_has_failed() -> None:
    (fault,) = find([*tried("ab", "ab ac bc"), *tried("", "ab")], LEAVES)
    assert fault.hosts == ("a", "b")


@pytest.mark.parametrize("full", [2, 100])
def test_the_second_pass_asks_good_partners_of_both_leaves(full: int) -> None:
    fabric = Fabric(leaves=4, size=4, seed=1, full=full)
    first = [
        Ping(client, server, rail, 50, 0 if rail == RAILS[1] and "n5" in (client, server) else 50)
        for client, server in planned(fabric.plan)
        for rail in RAILS
    ]
    asked = again(fabric.plan, first, fabric.leaves)
    assert set(asked) == {"n5"}
    assert {rail for _, rail in asked["n5"]} == {RAILS[1]}
    near = [fabric.leaf(host, RAILS[1]) == fabric.leaf("n5", RAILS[1]) for host, _ in asked["n5"]]
    assert near == [True, True, False, False]


def test_few_good_partners_are_not_asked_by_all_at_once() -> None:
    fabric = Fabric(leaves=2, size=4, seed=1, full=100)
    bad = set(fabric.hosts) - {"n6", "n7"}
    first = [
        Ping(client, server, RAILS[0], 50, 0 if bad & {client, server} else 50)
        for client, server in combinations(fabric.hosts, 2)
    ]
    asked = again(fabric.plan, first, fabric.leaves)
    # Two partners in each of four turns.
    assert sum(len(mine) for mine in asked.values()) == 8


def test_no_good_partner_is_asked_by_two_in_one_turn() -> None:
    fabric = Fabric(leaves=3, size=6, seed=1, full=100)
    bad = {"n0", "n7", "n14"}
    first = [
        Ping(client, server, RAILS[0], 50, 0 if bad & {client, server} else 50)
        for client, server in combinations(fabric.hosts, 2)
    ]
    asked = again(fabric.plan, first, fabric.leaves)
    assert set(asked) == bad
    for turn in range(4):
        assert len({mine[turn][0] for mine in asked.values()} - bad) == 3


def test_of_very_many_suspects_those_with_most_bad_pairs_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = Fabric(leaves=2, size=4, seed=1, full=100)
    first = [
        Ping(client, server, RAILS[0], 50, 0 if {"n0", "n1"} & {client, server} else 50)
        for client, server in combinations(fabric.hosts, 2)
    ]
    assert set(again(fabric.plan, first, fabric.leaves)) == {"n0", "n1"}
    monkeypatch.setattr(module, "MOST", 1)
    assert len(again(fabric.plan, first, fabric.leaves)) == 1
