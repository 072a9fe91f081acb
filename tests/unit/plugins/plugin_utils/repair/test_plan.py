# SPDX-License-Identifier: GPL-3.0-or-later
"""Which acts are done, which are held back and why, and that no plan goes on for ever."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair import plan as _plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair.plan import Limits, Plan

KINDS = table.acts()
EVERY = tuple(KINDS)
MIDDLE = {"leaves": ["0x1"], "manager": False, "cables": {}}


def act(host: str, kind: str = "value", *words: str, **more: Any) -> dict[str, Any]:
    given = () if kind == "converge" else words or (kind,)
    return {"host": host, "kind": kind, "words": list(given), "consents": [], "choices": [], **more}


def cause(name: str, *acts: dict[str, Any]) -> dict[str, Any]:
    hosts = [each["host"] for each in acts]
    evidence = [{"host": host, "check": f"check.{name}", "subject": "host"} for host in hosts]
    return {"id": name, "title": name, "hosts": hosts, "acts": list(acts), "evidence": evidence}


def planned(
    *causes: dict[str, Any], places: Any = None, tried: Any = None, allow: Any = EVERY, out: Any = (), **limits: Any
) -> Plan:
    hosts = {host for each in causes for host in each["hosts"]}
    known = {host: MIDDLE for host in hosts} if places is None else places
    allowed = {host: allow for host in hosts} if isinstance(allow, tuple | list) else allow
    return _plan.plan(causes, known, KINDS, Limits(allowed, **{"drain": hosts, **limits}), tried or {}, out)


def why(found: Plan) -> list[str]:
    return [entry.why for entry in found.held]


@pytest.mark.parametrize("kind", EVERY)
def test_nothing_is_done_that_is_not_allowed(kind: str) -> None:
    found = planned(cause("a", act("n1", kind)), allow=[other for other in EVERY if other != kind])
    assert not found.steps
    assert why(found) == [f"not allowed: {KINDS[kind].says}"]
    assert found.held[0].next == f"add {kind} to repair_allow"
    assert [step.kind for step in planned(cause("a", act("n1", kind)), allow=[kind]).steps] == [kind]


def test_a_converge_that_may_reboot_needs_both_consents_and_a_drain() -> None:
    reboots = cause("a", act("n1", "converge", consents=["ibready_reboot_ok"]))
    assert why(planned(reboots, allow=["converge"])) == [f"not allowed: {KINDS['reboot'].says}"]
    assert why(planned(reboots, drain=())) == ["nobody said how jobs are brought off it"]
    assert [step.drains for step in planned(reboots).steps] == [True]
    assert [step.drains for step in planned(cause("a", act("n1", "converge")), drain=()).steps] == [False]


def test_each_host_is_asked_for_its_own_consent_and_its_own_drain() -> None:
    both = cause("a", act("n1", "gpu"), act("n2", "gpu"))
    said = planned(both, allow={"n1": ["gpu"]}, hosts=2, per_leaf=2)
    assert ([step.host for step in said.steps], why(said)) == (["n1"], [f"not allowed: {KINDS['gpu'].says}"])
    drained = planned(both, drain={"n2"}, hosts=2, per_leaf=2)
    assert ([step.host for step in drained.steps], why(drained)) == (
        ["n2"],
        ["nobody said how jobs are brought off it"],
    )


def test_what_only_the_site_can_say_is_not_said_for_it() -> None:
    found = planned(cause("a", act("n1", "converge", choices=["rdma_port_type=infiniband"])))
    assert why(found) == ["only the site can say rdma_port_type=infiniband"]


@pytest.mark.parametrize("kind", [name for name, known in KINDS.items() if known.drains])
def test_the_host_of_the_subnet_manager_is_not_disrupted(kind: str) -> None:
    found = planned(cause("a", act("n1", kind)), places={"n1": {**MIDDLE, "manager": True}})
    assert why(found) == ["the subnet manager of its fabric is on it"]


@pytest.mark.parametrize("places", [{}, {"n1": {**MIDDLE, "manager": None}}])
def test_a_host_on_which_the_subnet_manager_may_be_is_not_disrupted(places: Any) -> None:
    found = planned(cause("a", act("n1", "gpu")), places=places)
    assert why(found) == ["nobody knows whether its fabric's subnet manager is on it"]


def test_the_budget_is_of_hosts_and_below_a_leaf() -> None:
    gpus = [cause(f"c{number}", act(f"n{number}", "gpu")) for number in (1, 2, 3)]
    apart = {f"n{number}": {**MIDDLE, "leaves": [f"0x{min(number, 2)}"]} for number in (1, 2, 3)}
    assert [step.host for step in planned(*gpus).steps] == ["n1"]
    two = planned(*gpus, places=apart, hosts=3)
    assert [step.host for step in two.steps] == ["n1", "n2"]
    assert why(two) == ["n2 first, below the same leaf switch as far as anybody knows"]
    # A host of which nobody saw the leaf may hang on any.
    unseen = {**apart, "n1": {**MIDDLE, "leaves": []}}
    assert [step.host for step in planned(*gpus, places=unseen, hosts=3).steps] == ["n1"]
    assert len(planned(*gpus, places=apart, hosts=3, per_leaf=2).steps) == 3
    # What disrupts nobody needs no budget, and a host that is drained anyway takes all of its acts.
    more = planned(gpus[0], cause("d", act("n1", "hca")), cause("e", act("n2", "value")))
    assert [(step.host, step.kind) for step in more.steps] == [("n2", "value"), ("n1", "gpu"), ("n1", "hca")]


def test_hosts_that_an_earlier_run_left_out_of_service_count() -> None:
    gpus = [cause("a", act("n1", "gpu")), cause("b", act("n2", "gpu"))]
    found = planned(*gpus, out={"n2"})
    assert ([step.host for step in found.steps], why(found)) == (["n2"], ["n2 first: repair_hosts is 1"])
    # Who is well again, or was taken away, holds nobody back.
    assert [step.host for step in planned(gpus[0], out={"n2", "n9"}).steps] == ["n1"]


def test_what_was_tried_often_enough_is_left_to_hands() -> None:
    found = planned(cause("a", act("n1"), act("n2")), tried={("n1", "a"): 2, ("n2", "a"): 1})
    assert [step.host for step in found.steps] == ["n2"]
    assert [(entry.host, entry.hands) for entry in found.held] == [("n1", True)]


def test_each_host_takes_commands_then_its_converge_then_what_disrupts() -> None:
    causes = [
        cause("a", act("n1", "gpu", "reset", "0")),
        cause("b", act("n1", "converge")),
        cause("c", act("n1", "value", "set")),
    ]
    assert _plan.by_host(planned(*causes), "converge") == {
        "n1": {"before": [["set"]], "converge": True, "after": [["reset", "0"]], "consents": [], "drains": True}
    }


def test_a_host_without_such_an_act_gets_no_converge() -> None:
    found = _plan.by_host(planned(cause("a", act("n1", "value", "set")), cause("b", act("n2", "converge"))), "converge")
    assert {host: told["converge"] for host, told in found.items()} == {"n1": False, "n2": True}


# What an act may come to: the cause is gone, it stays, or it is gone and another one came instead.
OUTCOMES = ("gone", "stays", "another")
CAUSES = ("a", "b")
HOSTS = ("n1", "n2")
TRIES = 2


def test_no_site_is_repaired_for_ever() -> None:
    """All states of two hosts with two causes, whatever acts come to: each road ends, and within the limits."""
    ways = {"a": "gpu", "b": "converge"}
    start = (frozenset(product(HOSTS, CAUSES)), frozenset[tuple[tuple[str, str], int]]())
    waiting, seen = [start], {start}
    ends = 0
    while waiting:
        there, counted = waiting.pop()
        tried = dict(counted)
        causes = [cause(name, *(act(host, ways[name]) for host in HOSTS if (host, name) in there)) for name in CAUSES]
        found = planned(*[each for each in causes if each["acts"]], tried=tried, tries=TRIES)
        keys = sorted({(step.host, step.cause) for step in found.steps})
        assert len({step.host for step in found.steps if step.drains}) <= 1
        assert all(tried.get(key, 0) < TRIES for key in keys)
        if not keys:
            ends += 1
            # Nothing is left over but what hands have to do, or waits for nobody.
            assert all(tried.get(key, 0) >= TRIES for key in there)
        after = Counter(tried)
        after.update(keys)
        for outcome in product(OUTCOMES, repeat=len(keys)):
            now = set(there)
            for (host, name), what in zip(keys, outcome, strict=True):
                if what != "stays":
                    now.discard((host, name))
                if what == "another":
                    now.add((host, "b" if name == "a" else "a"))
            # A number that grows with every act: no state comes again.
            state = (frozenset(now), frozenset(after.items()))
            assert not keys or sum(after.values()) > sum(tried.values())
            if keys and state not in seen:
                seen.add(state)
                waiting.append(state)
    assert ends > 10
    assert len(seen) > 100
