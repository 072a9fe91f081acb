# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.tcp.tried import Host, Try
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.tcp import judge
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check

MEET = "fabric.tcp.rendezvous"
RANGE = "fabric.tcp.range"
SAMPLE = (32768, 46883, 60999)
HOST = Host((29500,), span=(SAMPLE[0], SAMPLE[-1]), look="nft list ruleset")
HOSTS = {name: HOST for name in "abc"}


def tries(**bent: str) -> list[Try]:
    """All ordered pairs answered; ``a_b="dropped"`` bends a pair, ``to_b`` and ``from_b`` more."""
    return [
        _bent(one, bent.get(f"{c}_{s}", bent.get(f"to_{s}", bent.get(f"from_{c}"))))
        for c, s in permutations("abc", 2)
        for one in (Try(c, s, 29500), *(Try(c, s, port, sample=True) for port in SAMPLE))
    ]


def _bent(one: Try, outcome: str | None) -> Try:
    if outcome in (None, "answered", "connected"):
        return replace(one, outcome=outcome or "answered", ms=0.4)
    return replace(one, outcome=outcome)


def only(kind: str, seen: list[Try], healthy: list[Try]) -> list[Try]:
    """What was seen of one check, and of the other what is seen where all is well."""
    both = zip(seen, healthy, strict=True)
    return [one if one.sample is (kind == RANGE) else well for one, well in both]


def checks(seen: list[Try], hosts: dict[str, Host] = HOSTS, size: int = 3) -> dict[tuple[str, str], Check]:
    return {(name, check.id): check for name, own in judge(hosts, seen, size).items() for check in own}


def bad(found: dict[tuple[str, str], Check]) -> dict[str, str]:
    return {
        f"{name} {check_id}": check.result
        for (name, check_id), check in found.items()
        if check.result in ("fail", "unknown")
    }


def test_where_everybody_is_answered_every_host_passes_both() -> None:
    found = checks(tries())
    assert {check.result for check in found.values()} == {"pass"}
    assert {key[1] for key in found} == {MEET, RANGE}
    assert found["a", MEET].subject == "port 29500"
    assert found["a", MEET].observed == "4 of 4 pairs, at most 0.4 ms"
    assert found["a", RANGE].subject == "local ports"
    assert found["a", RANGE].observed == "4 of 4 pairs, 3 ports of 32768 to 60999, at most 0.4 ms"


OUTCOMES = [
    pytest.param("dropped", "timed out from a, c", "drops new connections", id="dropped"),
    pytest.param("refused", "refused from a, c", "refuses TCP port 29500 of b", id="refused"),
    pytest.param("unreachable", "unreachable from a, c", "ICMP", id="rejected by ICMP"),
    pytest.param("silent", "connected but not answered from a, c", "in place of b", id="silent"),
    pytest.param("other", "answered by something else from a, c", "leads elsewhere", id="other"),
]


@pytest.mark.parametrize(("outcome", "observed", "cause"), OUTCOMES)
def test_a_closed_port_is_laid_at_its_own_host_with_a_cause_of_its_own(outcome: str, observed: str, cause: str) -> None:
    found = checks(only(MEET, tries(to_b=outcome), tries()))
    assert bad(found) == {f"b {MEET}": "fail"}
    check = found["b", MEET]
    assert (check.observed, check.expected) == (observed, "an answer")
    assert cause in check.cause
    assert found["a", MEET].observed == "3 of 4 pairs, at most 0.4 ms; not with b (told there)"


def test_every_cause_is_told_apart() -> None:
    causes = {
        checks(tries(to_b=outcome.values[0]))["b", MEET].cause  # type: ignore[arg-type]
        for outcome in OUTCOMES
    }
    causes |= {
        checks(tries(from_b=outcome.values[0]))["b", MEET].cause  # type: ignore[arg-type]
        for outcome in OUTCOMES
    }
    assert len(causes) == 2 * len(OUTCOMES)


@pytest.mark.parametrize(
    ("look", "command"),
    [
        (
            "firewall-cmd --list-all",
            "run `firewall-cmd --list-all` on b: its rules have to let TCP port 29500 in",
        ),
        ("", "`nft list ruleset` (or `iptables -S`, `firewall-cmd --list-all`) on b: its rules"),
    ],
)
def test_the_remedy_names_the_one_command_that_fits_the_host(look: str, command: str) -> None:
    hosts = {**HOSTS, "b": replace(HOST, look=look)}
    check = checks(tries(to_b="dropped"), hosts)["b", MEET]
    assert command in check.remedy
    assert "between it and a, c" in check.remedy


def test_a_closed_range_says_how_many_ports_and_which() -> None:
    found = checks(only(RANGE, tries(to_b="refused"), tries()))
    assert bad(found) == {f"b {RANGE}": "fail"}
    check = found["b", RANGE]
    assert check.observed == "refused from a, c on 3 of 3 ports (32768, 46883, 60999)"
    assert "local ports 32768 to 60999 of b" in check.cause
    assert "net.ipv4.ip_local_port_range" in check.remedy


def test_one_closed_port_of_the_range_is_enough() -> None:
    seen = [
        replace(one, outcome="dropped", ms=None) if (one.server, one.port) == ("c", 60999) else one for one in tries()
    ]
    found = checks(seen)
    assert bad(found) == {f"c {RANGE}": "fail"}
    assert found["c", RANGE].observed == "timed out from a, b on 1 of 3 ports (60999)"


def test_a_host_that_reaches_nobody_is_named_and_not_those_it_asked() -> None:
    found = checks(tries(from_b="dropped"))
    assert bad(found) == {f"b {MEET}": "fail", f"b {RANGE}": "fail"}
    assert found["b", MEET].observed == "timed out to a, c"
    assert "drops what b sends" in found["b", MEET].cause
    assert "out to all nodes" in found["b", MEET].remedy


def test_of_one_bad_pair_the_one_that_was_connected_to_is_unknown_where_another_reached_it() -> None:
    found = checks(tries(a_b="dropped"))
    assert bad(found) == {f"b {MEET}": "unknown", f"b {RANGE}": "unknown"}
    assert found["b", MEET].cause == "timed out from a: a says so, c denies it"


def test_nobody_denies_what_the_only_other_one_says() -> None:
    two = [one for one in tries(a_b="dropped") if "c" not in (one.client, one.server)]
    # That b reaches a says nothing of the way in.
    assert bad(checks(two, {name: HOSTS[name] for name in "ab"}, 2)) == {f"b {MEET}": "fail", f"b {RANGE}": "fail"}


def test_two_closed_hosts_are_both_named_and_the_open_one_is_not() -> None:
    assert blame([("a", "b"), ("c", "b"), ("a", "c"), ("b", "c")], asked_first=True) == {"b", "c"}


def test_where_nobody_reaches_anybody_all_are_named() -> None:
    assert blame(permutations("abc", 2), asked_first=True) == {"a", "b", "c"}


def test_one_closed_host_of_many_is_named_once() -> None:
    ring = [(f"n{i}", f"n{(i + step) % 9}") for i in range(9) for step in (1, 4, 8)]
    assert blame([pair for pair in ring if pair[1] == "n3"], asked_first=True) == {"n3"}
    assert blame([pair for pair in ring if pair[0] == "n3"], asked_first=True) == {"n3"}


def test_what_answered_in_its_place_is_told() -> None:
    seen = [
        replace(one, said="10.0.0.2: the listener of c answered") if one.server == "b" else one
        for one in tries(to_b="other")
    ]
    check = checks(seen)["b", MEET]
    assert "10.0.0.2: the listener of c answered" in check.cause
    assert "set ibready_address of b" in check.remedy


def test_a_port_that_another_program_has_passes_and_says_whose_it_is() -> None:
    hosts = {**HOSTS, "b": replace(HOST, held={29500: "torchrun[42] on every address"})}
    found = checks(only(MEET, tries(to_b="connected"), tries()), hosts)
    assert bad(found) == {}
    assert "torchrun[42] on every address has it, so only the way is proved" in (found["b", MEET].observed)
    assert "torchrun" not in found["a", MEET].observed


def test_a_name_without_an_address_is_unknown_at_the_host_whose_it_is() -> None:
    seen = [
        replace(one, said="Name or service not known") if one.server == "b" else one for one in tries(to_b="unresolved")
    ]
    found = checks(seen)
    assert bad(found) == {f"b {MEET}": "unknown", f"b {RANGE}": "unknown"}
    assert "a finds no address of b: Name or service not known" in found["b", MEET].cause
    assert "set ibready_address of b" in found["b", MEET].remedy


def test_a_host_without_a_resolver_is_unknown_itself() -> None:
    assert set(bad(checks(tries(from_a="unresolved")))) == {f"a {MEET}", f"a {RANGE}"}


def untested(culprit: str, why: str) -> list[Try]:
    """Pairs with one host were not tested."""
    return [
        replace(one, outcome="", ms=None, untested=why, culprit=culprit) if culprit in (one.client, one.server) else one
        for one in tries()
    ]


def test_a_host_that_kept_others_from_testing_is_unknown_and_they_pass() -> None:
    found = checks(untested("c", "its listener ended before it was stopped"))
    assert bad(found) == {f"c {MEET}": "unknown", f"c {RANGE}": "unknown"}
    assert found["c", MEET].cause == "its listener ended before it was stopped"
    assert found["a", MEET].observed == "2 of 4 pairs, at most 0.4 ms; not with c (told there)"


def test_a_listener_that_did_not_start_is_unknown_and_never_passes() -> None:
    hosts = {**HOSTS, "c": replace(HOST, error="tcp_listen: no memory")}
    seen = [one for one in tries() if "c" not in (one.client, one.server)]
    found = checks(seen, hosts)
    assert bad(found) == {f"c {MEET}": "unknown", f"c {RANGE}": "unknown"}
    assert found["c", MEET].cause == "tcp_listen: no memory"


def test_a_failure_is_told_although_something_else_could_not_be() -> None:
    hosts = {**HOSTS, "b": replace(HOST, error="Ask a few others: no memory")}
    assert bad(checks(tries(to_b="dropped"), hosts))[f"b {MEET}"] == "fail"


def test_nothing_tried_is_unknown_everywhere() -> None:
    found = checks([])
    assert {check.result for check in found.values()} == {"unknown"}
    assert len(found) == 6


@pytest.mark.parametrize(
    ("hosts", "size", "why"),
    [
        pytest.param({"a": HOST}, 1, "one host", id="the only host has nobody to reach"),
        pytest.param({"a": replace(HOST, off="ibready_tcp is false")}, 3, "false", id="left out"),
    ],
)
def test_what_does_not_apply_is_skipped_with_its_reason(hosts: dict[str, Host], size: int, why: str) -> None:
    found = checks([], hosts, size)
    assert {check.result for check in found.values()} == {"skip"}
    assert all(why in check.cause for check in found.values())


def test_a_host_that_a_limit_left_alone_is_unknown() -> None:
    assert set(bad(checks([], {"a": HOST})).values()) == {"unknown"}


def test_without_a_sample_only_the_range_is_skipped() -> None:
    hosts = {name: replace(HOST, no_range="ibready_tcp_range_ports is 0") for name in "abc"}
    found = checks([one for one in tries() if not one.sample], hosts)
    assert found["a", RANGE].result == "skip"
    assert found["a", MEET].result == "pass"


def test_every_port_that_jobs_meet_at_is_a_subject_of_its_own() -> None:
    hosts = {name: replace(HOST, ports=(29500, 29501)) for name in "ab"}
    seen = [
        Try(c, s, port, outcome="dropped" if port == 29501 and s == "b" else "answered", ms=1.0)
        for c, s in ("ab", "ba")
        for port in (29500, 29501)
    ]
    reported = {
        (name, check.subject): check.result
        for name, own in judge(hosts, seen, 2).items()
        for check in own
        if check.id == MEET
    }
    assert reported == {
        ("a", "port 29500"): "pass",
        ("b", "port 29500"): "pass",
        ("a", "port 29501"): "pass",
        ("b", "port 29501"): "fail",
    }


def test_what_a_host_without_a_route_says_itself_goes_before_what_others_see_of_it() -> None:
    seen = [
        replace(one, said="10.0.0.1: Network is unreachable") if one.outcome == "unreachable" else one
        for one in tries(to_c="dropped", from_c="unreachable")
    ]
    check = checks(seen)["c", MEET]
    assert check.observed == "timed out from a, b; unreachable to a, b"
    assert check.cause.startswith("c has no route to others")
    assert check.remedy.startswith("run `ip route get 10.0.0.1` on c")
