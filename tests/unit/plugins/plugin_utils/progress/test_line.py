# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress import line
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.progress.state import State

EVIL = "\x1b[2J\x1b]0;x\x07\nn9 is ready\u202e"


def state(*hosts: str, phase: str = "converge", task: str = "Install", role: str = "rdma") -> State:
    """A task that has begun on all of these hosts, at 10 s of a run from 0."""
    made = State(0.0)
    made.play(phase, "Converge", hosts, (2, 5), 1.0)
    made.begin(task, role, once=False, at=10.0)
    for host in hosts:
        made.ask(host)
    return made


def test_it_tells_phase_batch_hosts_time_and_task() -> None:
    made = state("n1", "n2", "n3", "n4")
    made.end("n1")
    assert line.render(made, 75.0, 100) == "converge rdma  batch 2/5  1/4 hosts  1:15  Install"


def test_hosts_that_failed_are_counted_once_and_the_last_ones_named() -> None:
    made = state("n1", "n2", "n3", "n4")
    made.end("n1", failed=True)
    made.end("n2", failed=True, lost=True)
    made.end("n2", failed=True)
    assert line.render(made, 75.0, 100).endswith("  2 failed  1:15  Install  waiting for n3, n4")
    made.begin("Load", "rdma", once=False, at=80.0)
    assert "0/3 hosts  2 failed" in line.render(made, 80.0, 100)


def test_a_task_that_runs_once_is_about_one_host() -> None:
    made = state("n1", "n2")
    made.begin("Plan", "", once=True, at=20.0)
    assert "converge  batch 2/5  0/1 host  0:20  Plan" in line.render(made, 20.0, 100)


@pytest.mark.parametrize(
    ("spent", "shown"),
    [
        pytest.param(0.0, "about 6 min left", id="as last time"),
        pytest.param(100.0, "about 4 min left", id="it gets less"),
        pytest.param(130.0, "over 4 min left", id="longer than last time"),
    ],
)
def test_what_is_left_is_what_the_last_run_took_from_here_on(spent: float, shown: str) -> None:
    made = state("n1")
    made.last = {
        ("converge", "Converge", "1", "rdma", "1"): 999.0,
        ("converge", "Converge", "2", "rdma", "1"): 120.0,
        ("report", "Judge", "1", "", "1"): 240.0,
    }
    assert f", {shown}  " in line.render(made, 10.0 + spent, 100)


@pytest.mark.parametrize(
    "last",
    [
        pytest.param({}, id="no last run"),
        pytest.param({("verify", "Judge", "1", "", "1"): 240.0}, id="it had no such part"),
        pytest.param({("converge", "Converge", "2", "rdma", "1"): 1.0}, id="it is over"),
    ],
)
def test_without_a_basis_nothing_is_said_of_the_time_left(
    last: dict[tuple[str, ...], float],
) -> None:
    made = state("n1")
    made.last = last
    assert "left" not in line.render(made, 60.0, 100)


def test_nothing_is_drawn_before_the_first_play_or_without_room() -> None:
    assert line.render(State(0.0), 1.0, 100) == ""
    assert line.render(state("n1"), 1.0, line.LEAST - 1) == ""


TEXT = st.one_of(st.just(EVIL), st.just("节点 🟢 e\u0301"), st.text(st.characters(exclude_categories=())))


@given(TEXT, TEXT, TEXT, st.integers(0, 120))
def test_whatever_names_say_the_line_is_one_and_fits(host: str, task: str, role: str, width: int) -> None:
    made = state(host, "n2", "n3", task=task, role=role)
    made.end("n2")
    made.end("n3", failed=True)
    shown = line.render(made, 60.0, width)
    assert shown == "" or shown.isprintable()
    assert len([one for one in shown if not unicodedata.combining(one)]) <= width


@given(st.text(st.characters(exclude_categories=("C", "Z", "M"))), st.integers(line.LEAST, 40))
def test_wide_characters_count_twice(text: str, width: int) -> None:
    cut = line.cut(text, width)
    wide = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in cut)
    assert wide <= width
    assert cut == text or cut.endswith("...")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00"), (-1, "0:00"), (7.9, "0:07"), (252, "4:12"), (3852, "1:04:12")],
)
def test_times_are_read_like_a_clock(seconds: float, shown: str) -> None:
    assert line.clock(seconds) == shown
