# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are taken out and given back: by consent, within the budget, and nothing that is somebody else's."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon import node as _node, plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.node import MARK, TAINT, Mark, Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.cordon.plan import Held, Host, Limits, Step
from tests.unit import api_server

ALL = Limits(plan.KINDS, 1)
AT = "2026-11-27T03:00:00+00:00"
THEIRS = {"key": "maintenance", "value": "disk", "effect": "NoSchedule"}
VERDICTS = ["ready", "degraded", "unknown", "not_ready"]
OURS = {"key": TAINT, "value": "ib.port.state", "effect": "NoSchedule"}


def bad(name: str = "node1", *checks: str) -> Host:
    return Host(name, name, "not_ready", checks or ("ib.port.state", "ib.port.rate"))


def good(name: str = "node1", verdict: str = "ready") -> Host:
    return Host(name, name, verdict, seen=frozenset({"ib.port.state"}))


def node(name: str = "node1", mark: Mark | None = None, **spec: Any) -> Node:
    annotations = {MARK: mark.text()} if mark else {}
    return _node._node(api_server.node(name, annotations=annotations, **spec))


def mark(*, cordoned: bool = True, tainted: bool = True) -> Mark:
    return Mark(cordoned, tainted, AT, ("ib.port.state",))


def judged(host: Host, known: Node | None, limits: Limits = ALL) -> Step | Held | None:
    return plan.judged(host, known, limits, AT)


def after(known: Node, step: Step) -> Node:
    """The node as the API server has it after the patch."""
    raw = api_server.node(known.name, unschedulable=known.unschedulable, taints=list(known.taints))
    raw["metadata"]["annotations"] = {MARK: known.mark.text()} if known.mark else {}
    return _node._node(api_server.merged(raw, {**step.patch, "metadata": {**step.patch["metadata"]}}))


def test_a_node_that_is_not_ready_is_cordoned_and_tainted_with_its_check() -> None:
    step = judged(bad(), node(taints=[THEIRS]))
    assert isinstance(step, Step)
    assert step.does == f"cordon and taint {TAINT}:NoSchedule"
    assert step.patch["spec"] == {"unschedulable": True, "taints": [THEIRS, OURS]}
    assert step.patch["metadata"]["resourceVersion"] == "100", "good for what was seen alone"
    now = after(node(taints=[THEIRS]), step)
    assert plan.holds(step, now)
    assert now.mark == Mark(True, True, AT, ("ib.port.state", "ib.port.rate"))
    assert judged(bad(), now) is None, "once"


@pytest.mark.parametrize(
    ("allow", "spec"),
    [(["cordon"], {"unschedulable": True}), (["taint"], {"taints": [OURS]})],
)
def test_only_what_is_allowed_is_done(allow: list[str], spec: dict[str, Any]) -> None:
    step = judged(bad(), node(), Limits(allow))
    assert isinstance(step, Step)
    assert step.patch["spec"] == spec
    kept = step.patch["metadata"]["annotations"][MARK]
    assert ('"cordoned": true' in kept, '"tainted": true' in kept) == ("cordon" in allow, "taint" in allow)


@pytest.mark.parametrize("allow", [[], ["back"]])
def test_without_consent_nothing_is_done(allow: list[str]) -> None:
    held = judged(bad(), node(), Limits(allow))
    assert isinstance(held, Held)
    assert held.next == "add cordon, taint or both to cordon_allow"
    assert plan.plan([bad()], {"node1": node()}, Limits(allow), AT).steps == []


@pytest.mark.parametrize("verdict", ["ready", "degraded"])
def test_what_is_ours_is_taken_back_and_nothing_else(verdict: str) -> None:
    known = node(mark=mark(), unschedulable=True, taints=[THEIRS, OURS])
    step = judged(good(verdict=verdict), known)
    assert isinstance(step, Step)
    assert step.back
    now = after(known, step)
    assert (now.unschedulable, list(now.taints), now.mark) == (False, [THEIRS], None)
    assert plan.holds(step, now)
    assert judged(good(verdict=verdict), now) is None


def test_the_last_taint_goes_with_its_list() -> None:
    step = judged(good(), node(mark=mark(cordoned=False), taints=[OURS]))
    assert isinstance(step, Step)
    assert step.patch["spec"] == {"taints": None}


def test_somebody_elses_cordon_stays() -> None:
    assert judged(good(), node(unschedulable=True, taints=[THEIRS])) is None
    assert judged(bad(), node(unschedulable=True)) is None, "jobs stay away from it already"
    known = node(mark=mark(cordoned=False), unschedulable=True, taints=[OURS])
    step = judged(good(), known)
    assert isinstance(step, Step)
    assert after(known, step).unschedulable, "ibready had tainted it alone"


def test_giving_back_needs_consent_too() -> None:
    held = judged(good(), node(mark=mark(), unschedulable=True, taints=[OURS]), Limits(["cordon", "taint"]))
    assert isinstance(held, Held)
    assert held.next == "add back to cordon_allow"


@pytest.mark.parametrize("verdict", ["unknown", ""])
@pytest.mark.parametrize("known", [node(), node(mark=mark(), unschedulable=True, taints=[OURS])])
def test_what_nobody_could_tell_changes_nothing(verdict: str, known: Node) -> None:
    held = judged(Host("node1", "node1", verdict), known)
    assert isinstance(held, Held)
    assert "nobody could tell" in held.why


@pytest.mark.parametrize(
    ("known", "what"),
    [
        (node(mark=mark(), taints=[OURS]), "the cordon that"),
        (node(mark=mark(), unschedulable=True), "the taint that"),
        (node(mark=mark()), "the cordon and the taint that"),
    ],
)
def test_what_somebody_took_back_is_not_done_again(known: Node, what: str) -> None:
    held = judged(bad(), known)
    assert isinstance(held, Held)
    assert what in held.why
    step = judged(good(), known)
    assert isinstance(step, Step), "once it is good, that is forgotten"
    assert after(known, step).mark is None


def test_what_all_nodes_share_takes_none_out() -> None:
    held = judged(Host("node1", "node1", "not_ready", ()), node())
    assert isinstance(held, Held)
    assert "all nodes share" in held.why


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_simulated_host_moves_no_node(verdict: str) -> None:
    host = Host("node1", "node1", verdict, ("ib.port.state",), "hardware")
    for known in (node(), node(mark=mark(), unschedulable=True, taints=[OURS])):
        held = judged(host, known)
        assert isinstance(held, Held)
        assert "simulated (hardware)" in held.why


def test_a_node_that_is_not_there_is_named() -> None:
    held = judged(bad("node9"), None)
    assert isinstance(held, Held)
    assert "no node node9" in held.why
    assert judged(good("node9"), None) is None


def test_who_is_given_back_was_looked_at_for_what_took_it_out() -> None:
    known = node(mark=mark(), unschedulable=True, taints=[OURS])
    held = judged(Host("node1", "node1", "ready", seen=frozenset({"ib.port.rate"})), known)
    assert isinstance(held, Held)
    assert "ib.port.state, for which it was taken out, was not looked at" in held.why


@pytest.mark.parametrize("host", [bad(), good()])
@pytest.mark.parametrize("kept", [None, mark(tainted=False)])
def test_a_taint_that_no_annotation_knows_of_is_nobodys_we_know(host: Host, kept: Mark | None) -> None:
    held = judged(host, node(mark=kept, unschedulable=True, taints=[OURS]))
    assert isinstance(held, Held)
    assert "is missing or not as ibready wrote it" in held.why


def test_what_an_annotation_says_fills_no_screen() -> None:
    flood = Mark(True, True, "x" * 10_000 + "\x1b[2J", ("y" * 10_000 + "\x1b[2J",))
    for host in (bad(), good()):
        held = judged(host, node(mark=flood))
        assert isinstance(held, Held)
        assert len(held.why) < 400
        assert "\x1b" not in held.why


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "null", "["),
        '{"cordoned": 1, "tainted": true, "at": "", "checks": []}',
        '{"cordoned": true, "tainted": true, "at": "", "checks": "ib.port.state"}',
        '{"cordoned": true, "tainted": true, "at": "", "checks": [1]}',
    ],
)
@pytest.mark.parametrize("host", [bad(), good()])
def test_an_annotation_of_somebody_elses_is_not_believed(text: str, host: Host) -> None:
    raw = api_server.node("node1", annotations={MARK: text}, unschedulable=True)
    held = judged(host, _node._node(raw))
    assert isinstance(held, Held)
    assert "not as ibready wrote it" in held.why


def test_the_budget_counts_everybody_that_takes_no_pods() -> None:
    hosts = [bad(f"node{at}") for at in range(1, 5)]
    free = {name: node(name) for name in ("node1", "node2", "node3", "node4")}
    planned = plan.plan(hosts, free, Limits(plan.KINDS, 2), AT)
    assert [step.node for step in planned.steps] == ["node1", "node2"]
    assert [entry.node for entry in planned.held] == ["node3", "node4"]
    assert "0 of the cluster's nodes take no pods, node1, node2 first, and cordon_most is 2" in planned.held[0].why
    for other in (node("x", unschedulable=True), node("x", taints=[OURS]), node("x", ready=False)):
        planned = plan.plan(hosts, {**free, "x": other}, Limits(plan.KINDS, 2), AT)
        assert [step.node for step in planned.steps] == ["node1"], other
    planned = plan.plan(hosts, {**free, "x": node("x", taints=[THEIRS])}, Limits(plan.KINDS, 2), AT)
    assert len(planned.steps) == 2, "a taint of others is for the pods that bear it"


def test_giving_back_makes_no_room_in_the_same_run() -> None:
    known = {"node1": node("node1"), "node2": node("node2", mark=mark(), unschedulable=True, taints=[OURS])}
    planned = plan.plan([bad("node1"), good("node2")], known, ALL, AT)
    assert [(step.node, step.back) for step in planned.steps] == [("node2", True)]


def test_a_node_that_kubelet_left_costs_the_budget_once() -> None:
    known = {"node1": node("node1", ready=False), "node2": node("node2")}
    planned = plan.plan([bad("node1"), bad("node2")], known, ALL, AT)
    assert [step.node for step in planned.steps] == ["node1"]


STATES = [
    node("x", mark=kept, unschedulable=cordoned, taints=[*others, *ours], ready=ready)
    for kept, cordoned, others, ours, ready in itertools.product(
        [None, mark(), mark(cordoned=False), mark(tainted=False)],
        [False, True],
        [[], [THEIRS]],
        [[], [OURS]],
        [True, False],
    )
]


@given(
    st.lists(st.tuples(st.sampled_from(STATES), st.sampled_from(VERDICTS)), max_size=8),
    st.lists(st.sampled_from(plan.KINDS), unique=True),
    st.integers(1, 4),
    st.integers(0, 1),
)
def test_no_state_goes_beyond_the_budget_or_touches_what_is_not_ours(
    found: list[tuple[Node, str]], allow: list[str], most: int, seen: int
) -> None:
    known, hosts = {}, []
    for at, (state, verdict) in enumerate(found):
        name = f"node{at}"
        known[name] = Node(name, *list(vars(state).values())[1:])
        ids = ("ib.port.state",)
        hosts.append(Host(name, name, verdict, ids if verdict == "not_ready" else (), seen=frozenset(ids[:seen])))
    before = sum(one.out for one in known.values())
    planned = plan.plan(hosts, known, Limits(allow, most), AT)
    now = dict(known)
    for step in planned.steps:
        was, done = known[step.node], after(known[step.node], step)
        now[step.node] = done
        assert plan.holds(step, done)
        assert not plan.holds(step, was), "nothing was due"
        others = [taint for taint in was.taints if taint["key"] != TAINT]
        assert [taint for taint in done.taints if taint["key"] != TAINT] == others
        host = next(one for one in hosts if one.node == step.node)
        assert host.verdict == "not_ready" or step.back
        if step.back:
            assert host.verdict in ("ready", "degraded")
            assert was.mark
            assert host.seen.issuperset(was.mark.checks)
            assert done.unschedulable == (was.unschedulable and not (was.mark and was.mark.cordoned))
    assert sum(one.out for one in now.values()) <= max(most, before)
    again = plan.plan(hosts, now, Limits(allow, most), AT)
    assert not [step for step in again.steps if not step.back and step.node in {one.node for one in planned.steps}]
