# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from itertools import permutations

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping import Ping, judge_times
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check

HOSTS = ("a", "b", "c")
RAILS = ("mlx5_0/1", "mlx5_1/1")


def pings(**slow: float) -> list[Ping]:
    """All pairs on both rails at 0.05 ms; ``b_0=2.0``: all that touch b on rail 0."""
    return [
        Ping(c, s, rail, 50, 50, rtt_avg=max(slow.get(f"{h}_{rail[5]}", 0.05) for h in (c, s)))
        for c, s in permutations(HOSTS, 2)
        for rail in RAILS
    ]


def checks(seen: list[Ping], size: int = 3) -> dict[tuple[str, str], Check]:
    return of("fleet.ping.rtt", seen, size)


def of(check_id: str, seen: list[Ping], size: int = 3) -> dict[tuple[str, str], Check]:
    rails = dict.fromkeys(HOSTS, RAILS)
    judged = judge_times(rails, seen, size)
    return {(host, one.subject): one for host, mine in judged.items() for one in mine if one.id == check_id}


def bad(seen: list[Ping]) -> set[tuple[str, str]]:
    return {key for key, one in checks(seen).items() if one.result != "pass"}


def test_even_round_trips_pass() -> None:
    assert bad(pings()) == set()


def test_noise_below_the_threshold_is_no_straggler() -> None:
    assert bad(pings(b_0=0.19)) == set()  # four times, yet little
    assert bad(pings(b_0=0.24)) == set()


def test_the_host_that_answers_late_is_named_and_its_peers_are_not() -> None:
    found = checks(pings(b_0=2.0))
    assert {key for key, one in found.items() if one.result == "fail"} == {("b", RAILS[0])}
    assert found["b", RAILS[0]].observed == "2 ms in 4 of 4 pairs"
    assert found["b", RAILS[0]].expected == "at most 0.25 ms"
    assert found["b", RAILS[0]].expected_from == "fleet 8/12"
    assert found["b", RAILS[0]].severity == "warning"


def test_one_of_three_that_is_late_on_all_rails_does_not_become_the_measure() -> None:
    assert bad(pings(b_0=2.0, b_1=2.0)) == {("b", rail) for rail in RAILS}


def test_a_rail_that_is_late_on_every_host_stands_out_from_the_other() -> None:
    seen = pings(a_0=0.9, b_0=0.9, c_0=0.9)
    more = [Ping(one.client, one.server, "mlx5_2/1", 50, 50, rtt_avg=0.05) for one in seen]
    assert bad([*seen, *more]) == {(host, RAILS[0]) for host in HOSTS}


def test_few_pairs_do_not_tell_what_is_usual() -> None:
    few = [one for one in pings() if one.rail == RAILS[0] and one.client == "a"]
    assert {checks(few)[key].result for key in checks(few)} == {"unknown"}
    assert ("a", RAILS[1]) not in checks(few)


def test_a_pair_that_told_no_time_is_not_taken_for_a_fast_one() -> None:
    silent = [Ping(c, s, RAILS[0], 50, 50) for c, s in permutations(HOSTS, 2)]
    found = checks([*silent, *(one for one in pings() if one.rail == RAILS[1])])
    assert {found[host, RAILS[0]].result for host in HOSTS} == {"unknown"}
    assert {found[host, RAILS[1]].result for host in HOSTS} == {"pass"}


def test_untested_pairs_say_nothing() -> None:
    assert checks([Ping("a", "b", RAILS[0], untested="down", culprit="a")]) == {}


def test_one_host_alone_is_skipped() -> None:
    assert {one.result for one in checks([], size=1).values()} == {"skip"}


def latest(**late: float) -> dict[tuple[str, str], Check]:
    """``a_b=900``: the longest round trip from a to b on rail 0, in ms; else 0.2."""
    seen = [
        Ping(c, s, rail, 50, 50, rtt_avg=0.05, rtt_max=late.get(f"{c}_{s}", 0.2) if rail == RAILS[0] else 0.2)
        for c, s in permutations(HOSTS, 2)
        for rail in RAILS
    ]
    return of("fleet.ping.longest", seen)


def test_what_was_lost_and_sent_again_shows_in_the_longest_round_trip() -> None:
    found = latest(a_b=905.0, c_b=911.0)
    assert {key for key, one in found.items() if one.result != "pass"} == {("b", RAILS[0])}
    assert found["b", RAILS[0]].observed == "911 ms with c, late in 2 of 4 pairs"


def test_a_late_pair_is_laid_at_both_ends_and_a_late_answer_at_none() -> None:
    both = latest(a_b=905.0, b_a=911.0)
    assert {key for key, one in both.items() if one.result != "pass"} == {("a", RAILS[0]), ("b", RAILS[0])}
    once = latest(a_b=905.0)
    assert {one.result for one in once.values()} == {"pass"}
    assert once["a", RAILS[0]].observed.startswith("905 ms with b once")
