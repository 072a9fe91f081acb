# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from itertools import permutations

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping import Mesh, Ping, judge, judge_times

HOSTS = ("a", "b", "c")
RAIL = "mlx5_0/1"
RAILS = {host: [RAIL] for host in HOSTS}


def pings(**received: int) -> list[Ping]:
    """All ordered pairs with 50 sent; ``a_b=20`` bends one, ``b=20`` all that touch b."""
    return [
        Ping(c, s, RAIL, 50, received.get(f"{c}_{s}", min(received.get(c, 50), received.get(s, 50))))
        for c, s in permutations(HOSTS, 2)
    ]


def bad(rails: dict[str, list[str]], seen: list[Ping]) -> dict[str, str]:
    return {
        f"{host} {check.id}": check.result
        for host, checks in judge(rails, seen, 3).items()
        for check in checks
        if check.result in ("fail", "unknown")
    }


def test_a_fabric_without_loss_passes() -> None:
    assert bad(RAILS, pings()) == {}


def test_a_lossy_host_is_named_once_and_its_peers_are_not() -> None:
    assert bad(RAILS, pings(b=25)) == {"b fabric.ping.loss": "fail"}


def test_a_dead_host_is_unreachable_and_its_loss_cannot_be_told() -> None:
    assert bad(RAILS, pings(b=0)) == {
        "b fabric.ping.reachable": "fail",
        "b fabric.ping.loss": "unknown",
    }


def test_one_bad_pair_names_both_ends_for_nobody_can_tell() -> None:
    assert blame([("a", "b")]) == {"a", "b"}


def test_one_lost_ping_of_fifty_is_a_loss() -> None:
    assert bad(RAILS, pings(a_b=49, b_a=49)) == {
        "a fabric.ping.loss": "fail",
        "b fabric.ping.loss": "fail",
    }


def test_what_one_host_alone_says_of_another_that_denies_it_is_unknown() -> None:
    found = judge(RAILS, pings(a_b=0), 3)
    told = {host: {check.id: check for check in checks}["fabric.ping.reachable"] for host, checks in found.items()}
    assert {host: check.result for host, check in told.items()} == {"a": "fail", "b": "unknown", "c": "pass"}
    assert told["b"].cause.endswith("a says so, b denies it")
    assert bad(RAILS, pings(a_b=40)) == {"a fabric.ping.loss": "fail", "b fabric.ping.loss": "unknown"}


def test_a_third_s_word_denies_it_as_well_and_a_second_one_bears_it_out() -> None:
    # b itself asked nobody.
    seen = [one for one in pings(a_b=0) if one.client != "b"]
    told = next(one for one in judge(RAILS, seen, 3)["b"] if one.id == "fabric.ping.reachable")
    assert (told.result, told.cause.endswith("a says so, c denies it")) == ("unknown", True)
    seen = [one for one in pings(a_b=0, c_b=0) if one.client != "b"]
    assert bad(RAILS, seen)["b fabric.ping.reachable"] == "fail"


def test_round_trips_that_one_host_alone_calls_late_fail_no_other() -> None:
    hosts = "abcdefgh"
    rails = {host: [RAIL] for host in hosts}

    def timed(client: str, server: str) -> Ping:
        late = (client, server) == ("a", "b")
        return Ping(client, server, RAIL, 50, 50, 90.0 if late else 0.1, 90.0 if late else 0.2)

    # A sample, in which only two asked b and b nobody.
    pairs = [(one, two) for one, two in permutations(hosts, 2) if one != "b" and (two != "b" or one in "ac")]
    found = judge_times(rails, [timed(*pair) for pair in pairs], 8)
    told = {host: {one.id: one for one in checks}["fleet.ping.rtt"] for host, checks in found.items()}
    assert (told["b"].result, told["c"].result) == ("unknown", "pass")
    assert told["b"].cause.endswith("a says so, c denies it")


def test_pairs_with_an_absent_host_do_not_hurt_the_others() -> None:
    seen = [
        Ping(p.client, p.server, RAIL, untested="unreachable by ssh", culprit="c") if "c" in (p.client, p.server) else p
        for p in pings()
    ]
    assert bad({"a": [RAIL], "b": [RAIL], "c": []}, seen) == {}
    tested = next(one for one in judge(RAILS, seen, 3)["a"] if one.id == "fabric.ping.tested")
    assert tested.observed == "2 of 4 pairs; not with c"


def test_a_host_that_kept_its_pairs_from_being_tested_is_unknown() -> None:
    seen = [
        Ping(c, s, RAIL, untested="the port is Down", culprit="b") if "b" in (c, s) else Ping(c, s, RAIL, 50, 50)
        for c, s in permutations(HOSTS, 2)
    ]
    found = bad(RAILS, seen)
    assert found == {
        "b fabric.ping.tested": "unknown",
        "b fabric.ping.reachable": "unknown",
        "b fabric.ping.loss": "unknown",
    }


def test_a_rail_that_nobody_tested_is_unknown_everywhere() -> None:
    assert set(bad(RAILS, []).values()) == {"unknown"}
    assert len(bad(RAILS, [])) == 9


def test_a_single_host_has_no_one_to_reach() -> None:
    results = {check.result for check in judge({"a": [RAIL]}, [], 1)["a"]}
    assert results == {"skip"}


def test_a_host_that_a_limit_left_alone_is_unknown() -> None:
    results = {check.result for check in judge({"a": [RAIL]}, [], 3)["a"]}
    assert results == {"unknown"}


def test_a_port_that_met_none_but_a_bad_one_is_not_proven_good() -> None:
    """b is bad with both that it met; a met nobody else."""
    for received in (0, 25):
        seen = [Ping(c, s, RAIL, 50, received) for c, s in ("ab", "ba", "bc", "cb")]
        seen.append(Ping("c", "d", RAIL, 50, 50))
        found = bad({host: [RAIL] for host in "abcd"}, seen)
        assert found.pop("a fabric.ping.loss") == "unknown"
        assert found.pop("b fabric.ping.reachable" if not received else "b fabric.ping.loss")
        reached = found.pop("a fabric.ping.reachable", "pass")
        assert reached == ("pass" if received else "unknown")
        assert {name for name in found if name[0] in "acd"} == set()


def lossy(first: int, *again: Ping) -> dict[str, tuple[str, str]]:
    """a lost some of 50 with b; what the second pass told."""
    found = judge(RAILS, pings(a_b=first), 3, Mesh(again=again))
    return {host: (one.result, one.observed) for host, mine in found.items() for one in mine if "loss" in one.id}


def test_a_little_that_was_lost_once_is_told_and_fails_nobody() -> None:
    found = lossy(49, Ping("b", "a", RAIL, 50, 50), Ping("a", "c", RAIL, 50, 50))
    assert {result for result, _said in found.values()} == {"pass"}
    assert found["a"][1] == "0 %; 1 of 50 lost at first with b, none when asked again"


def test_a_loss_that_goes_on_or_is_not_little_fails() -> None:
    for first, again in (
        (49, Ping("a", "b", RAIL, 50, 49)),
        (40, Ping("a", "b", RAIL, 50, 50)),
        (49, Ping("a", "b", RAIL, untested="down", culprit="b")),
        (49, Ping("a", "c", RAIL, 50, 50)),
    ):
        assert lossy(first, again)["a"][0] == "fail"
