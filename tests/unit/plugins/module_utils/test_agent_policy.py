# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent import policy
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.policy import (
    DRAIN,
    NOTHING,
    RESUME,
    Drained,
    Streak,
)
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import plain
from ansible_collections.ibready.cluster.plugins.module_utils._parse.scontrol_node import Node

SETTINGS = Settings(host="node2", slurm_confirm_unknown=3, slurm_confirm_good=2)
GOOD = _model.passed("ib.port.state", "mlx5_0/1", "Active")
DOWN = _model.failed("ib.port.state", "mlx5_0/1", "Down", "Active", "capability")
SLOW = _model.failed("ib.port.rate", "mlx5_1/1", "200", "400", "inventory")
BLIND = _model.unknown("ib.port.state", "mlx5_0/1", "ibstat: not installed")
SM = _model.failed("fabric.sm.answers", "mlx5_0/1", "no answer", "an answer", "capability")
REASON = "ibready: ib.port.state mlx5_0/1 Down, expected Active"
OURS = Drained(REASON, "root@T1", "ib.port.state mlx5_0/1")
IDLE = Node("node2", ("IDLE",), "an old reason", "root@T0")
DRAINED = Node("node2", ("IDLE", "DRAIN"), REASON, "root@T1")


def look(*checks: _model.Check) -> Look:
    return Look("node2", ("ib",), checks, 1.0)


def decided(
    node: Node,
    seen: Look,
    count: int,
    drained: Drained = Drained(),  # noqa: B008 - frozen
) -> policy.Decision:
    good = seen.verdict in ("ready", "degraded")
    return policy.decide(node, seen, Streak(good, count, 1.0), drained, SETTINGS)


def test_a_failure_drains_with_its_check_as_the_reason() -> None:
    found = decided(IDLE, look(DOWN), 1)
    assert (found.action, found.reason) == (DRAIN, REASON)
    assert decided(IDLE, look(DOWN, SLOW), 1).reason == f"{REASON} (and 1 more)"


@pytest.mark.parametrize(("count", "action"), [(1, NOTHING), (2, NOTHING), (3, DRAIN)])
def test_what_could_not_be_looked_at_has_to_stay_so(count: int, action: str) -> None:
    assert decided(IDLE, look(BLIND), count).action == action


def test_unknown_never_drains_where_the_site_says_so() -> None:
    never = Settings(host="node2", slurm_confirm_unknown=0)
    streak = Streak(False, 1000, 1.0)
    assert policy.decide(IDLE, look(BLIND), streak, Drained(), never).action == NOTHING
    assert policy.decide(IDLE, look(DOWN), streak, Drained(), never).action == DRAIN


@pytest.mark.parametrize(("count", "action"), [(1, NOTHING), (2, RESUME)])
def test_what_it_drained_it_resumes_once_that_is_good_for_a_while(count: int, action: str) -> None:
    assert decided(DRAINED, look(GOOD), count, OURS).action == action


@pytest.mark.parametrize(
    "node",
    [
        Node("node2", ("IDLE", "DRAIN"), "disk swap", "root@T2"),
        Node("node2", ("IDLE", "DRAIN"), f"{REASON} RMA 12", "root@T1"),
        Node("node2", ("IDLE", "DRAIN"), REASON, "admin@T2"),
        Node("node2", ("DOWN",), REASON, "root@T1"),
        Node("node2", ("DOWN", "NOT_RESPONDING"), "Not responding", "slurm@T2"),
        Node("node2", ("IDLE", "FAIL"), "x", "root@T2"),
    ],
)
@pytest.mark.parametrize("check", [GOOD, DOWN, BLIND])
def test_what_somebody_else_drained_or_changed_stays_as_it_is(node: Node, check: _model.Check) -> None:
    assert decided(node, look(check), 1000, OURS).action == NOTHING


def test_a_forgotten_drain_is_somebody_elses_and_told() -> None:
    found = decided(DRAINED, look(GOOD), 1000)
    assert found.action == NOTHING
    assert "Resume it by hand" in found.why


def test_a_node_that_slurmctld_does_not_hear_of_waits() -> None:
    silent = Node("node2", ("DOWN", "NOT_RESPONDING", "DRAIN"), REASON, "root@T1")
    assert decided(silent, look(GOOD), 5, OURS).action == NOTHING
    back = Node("node2", ("DOWN", "DRAIN"), REASON, "root@T1")
    assert decided(back, look(GOOD), 5, OURS).action == RESUME


def test_the_reason_stands_until_its_cause_is_gone() -> None:
    assert decided(DRAINED, look(DOWN, SLOW), 9, OURS).action == NOTHING
    assert decided(DRAINED, look(BLIND), 9, OURS).action == NOTHING
    other = decided(DRAINED, look(SLOW), 9, OURS)
    assert (other.action, other.reason.split(" ")[1]) == (DRAIN, "ib.port.rate")


def test_what_all_nodes_share_does_not_drain_one() -> None:
    seen = look(GOOD, SM).without(SETTINGS.slurm_never)
    assert seen.verdict == _model.READY
    assert decided(IDLE, seen, 9).action == NOTHING
    assert look(SM).without(["fabric.*"]).verdict == _model.UNKNOWN_VERDICT


def test_one_look_counts_once_and_a_change_begins_anew() -> None:
    first = Streak().then(look(DOWN))
    assert (first.good, first.count) == (False, 1)
    assert first.then(look(DOWN)) == first
    later = first.then(Look("node2", ("ib",), (BLIND,), 2.0))
    assert (later.good, later.count) == (False, 2)
    good = later.then(Look("node2", ("ib",), (GOOD,), 3.0))
    assert (good.good, good.count) == (True, 1)


def test_a_look_without_a_verdict_says_why_in_the_reason() -> None:
    seen = Look("node2", ("ib",), looked_at=1.0, why="no answer within 40 s")
    assert decided(IDLE, seen, 3).reason == "ibready: no verdict: no answer within 40 s"


NODES = st.builds(
    Node,
    st.just("node2"),
    st.lists(st.sampled_from(["IDLE", "DOWN", "DRAIN", "FAIL", "NOT_RESPONDING"]), min_size=1).map(tuple),
    st.sampled_from(["", REASON, "disk swap"]),
    st.sampled_from(["", "root@T1", "root@T2"]),
)
LOOKS = st.lists(st.sampled_from([GOOD, DOWN, SLOW, BLIND, SM]), max_size=3).map(lambda checks: look(*checks))


@given(NODES, LOOKS, st.integers(1, 9), st.sampled_from([OURS, Drained()]))
def test_nothing_is_resumed_that_is_not_ours_and_good(node: Node, seen: Look, count: int, drained: Drained) -> None:
    found = decided(node, seen, count, drained)
    if found.action == RESUME:
        assert (node.reason, node.stamp) == (OURS.reason, OURS.stamp)
        assert "DRAIN" in node.states
        assert seen.verdict in ("ready", "degraded")
    if found.action == DRAIN:
        assert seen.verdict in ("not_ready", "unknown")
        assert found.reason.startswith("ibready: ")


@given(st.text(), st.integers(3, 200))
def test_a_reason_is_one_plain_line(text: str, length: int) -> None:
    line = plain(text, length)
    assert len(line) <= length
    assert line.isascii()
    assert line.isprintable()
    assert not set(line) & set("\"'`\\")
