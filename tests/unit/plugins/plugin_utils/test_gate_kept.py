# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before a node is told of it, and that what is taken keeps the gates of good nodes open."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._site import gate_kept

SETTINGS = {"host": "node7", "areas": ["ib"], "seconds": 40, "interval": 60, "gate_intervals": 3.0}
WISH = {
    "timer": True,
    "slurm": False,
    "slurm_interval": 60,
    "slurm_node_state": "ANY",
    "slurm_prolog": False,
    "npd": False,
    "nvhcd": False,
}


def refused(settings: dict[str, Any] | None = None, **wish: Any) -> str:
    return gate_kept.refused({**SETTINGS, **(settings or {})}, {**WISH, **wish})


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"npd": True, "nvhcd": True},
        {"slurm": True, "slurm_prolog": True},
        {"slurm": True, "slurm_prolog": True, "slurm_node_state": "IDLE"},
        {"timer": False},
        {"timer": False, "slurm": True, "slurm_prolog": True, "slurm_node_state": "any,cycle"},
        {"timer": False, "slurm": True, "slurm_node_state": "IDLE"},
        {"slurm_interval": 0},
    ],
    ids=str,
)
def test_a_gate_that_somebody_keeps_is_taken(wish: dict[str, Any]) -> None:
    assert refused(**wish) == ""


@pytest.mark.parametrize(
    ("wish", "why", "next_step"),
    [
        ({"timer": False, "npd": True}, "health_agent_npd go by the verdict", "set health_agent_timer or"),
        ({"timer": False, "nvhcd": True}, "no job would ever start", "set health_agent_timer or"),
        ({"slurm_prolog": True}, "no prolog would be written", "set health_agent_slurm to true"),
        ({"slurm": True, "slurm_interval": 0}, "Slurm makes no health check", "set health_agent_slurm_interval"),
        (
            {"timer": False, "slurm": True, "slurm_prolog": True, "slurm_node_state": "IDLE"},
            "passes over nodes in other states",
            "set health_agent_timer to true",
        ),
        (
            {"timer": False, "slurm": True, "npd": True, "slurm_node_state": "CYCLE"},
            "passes over nodes in other states",
            "set health_agent_timer to true",
        ),
    ],
    ids=str,
)
def test_a_gate_that_nobody_would_keep_is_refused(wish: dict[str, Any], why: str, next_step: str) -> None:
    said = refused(**wish)
    assert why in said
    assert f"Nothing was changed. Next: {next_step}" in said


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"seconds": 0}, "seconds must be above 0"),
        ({"interval": 0}, "interval must be above 0"),
        ({"seconds": "40"}, "seconds must be float"),
        ({"areas": []}, "areas names none"),
        ({"gate_unknown": "perhaps"}, "gate_unknown must be"),
        ({"prolog_age": 3}, "prolog_age is not known"),
    ],
    ids=str,
)
def test_settings_that_a_node_would_refuse_are_refused_here(settings: dict[str, Any], why: str) -> None:
    assert why in refused(settings)


@pytest.mark.parametrize(
    ("settings", "least"),
    [({"gate_intervals": 1.0}, 2), ({"interval": 5}, 4), ({"interval": 60, "gate_intervals": 1.9}, 2)],
)
def test_a_limit_that_good_nodes_would_miss_is_refused_with_one_that_they_keep(
    settings: dict[str, Any], least: int
) -> None:
    said = refused(settings)
    assert f"set health_agent_gate_intervals to {least} or more" in said
    assert refused({**settings, "gate_intervals": float(least)}) == ""


@given(
    st.integers(1, 7200),
    st.sampled_from([1.0, 1.5, 1.8, 2.0, 3.0, 4.0, 10.0]),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.5, 9.0), st.booleans()), min_size=1, max_size=30),
)
def test_what_is_taken_is_kept_by_a_timer_with_all_its_play(
    interval: int, intervals: float, looks: list[tuple[float, float, bool]]
) -> None:
    """Each look begins after the interval, a second of accuracy and up to a quarter by chance.

    Where Slurm has looked within half an interval before, its look stands for the timer's own.
    """
    if refused({"interval": interval, "gate_intervals": intervals}):
        return
    kept = begun = 0.0
    for chance, takes, by_slurm in looks:
        begun += interval + chance * (1 + max(interval // 4, 1))
        if by_slurm:
            kept = max(kept, begun - interval // 2)
        else:
            # The gate is asked just before the new verdict is there.
            assert begun + takes - kept <= intervals * interval
            kept = begun + takes
