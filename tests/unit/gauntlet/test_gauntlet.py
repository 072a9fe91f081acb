# SPDX-License-Identifier: GPL-3.0-or-later
"""Every simulated board is clean, and every fault is found by its check and by no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gauntlet import fault, render, run
from tests.gauntlet.switches import site

# Every check's every fault, in every run: this is the measure.
pytestmark = pytest.mark.thorough(every=True)

FAULTS = fault.load()
ODDITIES = fault.oddities()


@pytest.mark.parametrize("board", sorted(render.boards()))
def test_a_healthy_board_has_no_finding(board: str) -> None:
    outcome = run.healthy(board)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []


@pytest.mark.parametrize("one", [pytest.param(one, id=f"{one.area}: {one.name}") for one in ODDITIES])
def test_what_is_odd_and_harms_nothing_is_no_finding(one: fault.Oddity) -> None:
    outcome = run.odd(one)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []


@pytest.mark.parametrize("one", [pytest.param(one, id=f"{one.area}: {one.name}") for one in FAULTS])
def test_a_fault_is_found_by_its_check_alone(one: fault.Fault) -> None:
    outcome = run.faulty(one)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []


def test_the_gauntlet_is_as_wide_as_it_says() -> None:
    assert len(FAULTS) >= 80
    assert len(render.boards()) >= 12
    assert len({one.check for one in FAULTS}) >= 60


def test_the_readme_shows_the_table_of_today() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    # The tests above demand of each that it is found and raises no false alarm.
    good = [run.Outcome(board, "healthy") for board in render.boards()]
    good += [run.Outcome(one.name, "odd") for one in ODDITIES]
    good += [run.Outcome(runs, "sites") for runs in site.SYSTEMS]
    good += [run.Outcome(one.name, one.area) for one in [*FAULTS, *site.load()]]
    assert run.table(good) in readme


def test_a_fault_that_breaks_nothing_is_missed() -> None:
    harmless = fault.Fault("nothing", "hgx-h100-8", "ib.port.rate", "Gb/s", "ib")
    assert run.faulty(harmless).why == "ib.port.rate is pass"


def test_an_oddity_that_changes_nothing_is_none() -> None:
    assert run.odd(fault.Oddity("nothing", "hgx-h100-8", "it is as it was", "ib")).why == "the node is like its board"


def test_a_finding_that_nobody_announced_is_a_false_alarm() -> None:
    hidden = fault.Fault(
        "two at once",
        "hgx-h100-8",
        "ib.port.rate",
        "100 Gb/s",
        "ib",
        node=({"hca": "mlx5_3", "rate": 100}, {"hca": "mlx5_5", "sm_lid": 0}),
    )
    outcome = run.faulty(hidden)
    assert outcome.found
    assert any("mlx5_5" in one for one in outcome.false_alarms)
