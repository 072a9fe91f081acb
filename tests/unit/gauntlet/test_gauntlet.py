# SPDX-License-Identifier: GPL-3.0-or-later
"""Every simulated board is clean, and every fault is found by its check and by no other.

Each is judged once, here: what is to be true of all of their findings is asked here, too.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.excerpt import GAP
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.redact import MASK
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, Cached, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import entry
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, Check, trouble
from ansible_collections.ibready.cluster.plugins.module_utils._verify.fold import folded
from tests.gauntlet import fault, render, run
from tests.gauntlet.remedies import misfit
from tests.gauntlet.switches import site
from tests.gauntlet.tree import Tree

# What a path names that may be another's.
THING = re.compile(r"mlx5_[0-9]+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|(?<=/)eth[0-9]+")
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
def test_a_fault_is_found_by_its_check_alone_in_its_own_words_and_told_once(one: fault.Fault) -> None:
    outcome = run.faulty(one)
    assert outcome.found, outcome.why
    assert outcome.false_alarms == []
    checks = run.judged(one)
    tree = fault.broken(one)[1]
    for check in checks:
        if check.id == one.check and check.result == FAIL:
            every_line_was_read_where_it_says(tree, check)
    nothing_is_lost_or_told_twice(trouble(checks))
    wrong = (misfit(entry(check.id), check.cause, check.remedy) for check in checks if check.result == FAIL)
    assert [why for why in wrong if why] == []


def every_line_was_read_where_it_says(tree: Tree, check: Check) -> None:
    """A quote is of nothing else."""
    for source, reported in check.evidence.items():
        if source == "line":
            # Of a job's log, by its own check.
            continue
        text = _read(tree, source)
        for line in reported.removesuffix(GAP).split("\n"):
            assert line == GAP or MASK in line or line in text, (check.id, source, line)
        about = f"{check.subject} {check.observed}"
        for thing in THING.findall(source):
            assert thing in about, (check.id, check.subject, source)


def nothing_is_lost_or_told_twice(bad: list[Check]) -> None:
    lines = folded(bad)
    everything = [id(check) for line in lines for check in (line.check, *line.alike, *line.behind)]
    assert sorted(everything) == sorted(map(id, bad))
    # What is wrong is told before what could not be looked at because of it.
    assert all(line.check.result == FAIL for line in lines if any(entry.result == FAIL for entry in line.behind))


def _read(tree: Tree, source: str) -> str:
    if source.startswith("/"):
        path, _, later = source.partition(" (")
        seen = Cached(tree.again(5.0)[0] if later else tree)
        try:
            return seen.read(path)
        except Unavailable:
            return seen.link(path)
    asked = source.removeprefix("$ ").split()
    for name, known in COMMANDS.items():
        argv = list(known.argv)
        if asked[: len(argv)] == argv:
            with suppress(Unavailable):
                output = tree.run(name, *asked[len(argv) :])
                if output.stdout.strip() or output.stderr.strip():
                    return f"{output.stdout}\n{output.stderr}"
    raise AssertionError(source)


def test_the_gauntlet_is_as_wide_as_it_says() -> None:
    assert len(FAULTS) >= 80
    assert len(render.boards()) >= 12
    assert len({one.check for one in FAULTS}) >= 60


def test_the_docs_show_the_table_of_today() -> None:
    page = (Path(__file__).parents[3] / "docs/testing.md").read_text()
    # The tests above demand of each that it is found and raises no false alarm.
    good = [run.Outcome(board, "healthy") for board in render.boards()]
    good += [run.Outcome(one.name, "odd") for one in ODDITIES]
    good += [run.Outcome(runs, "sites") for runs in site.SYSTEMS]
    good += [run.Outcome(one.name, one.area) for one in [*FAULTS, *site.load()]]
    assert run.table(good) in page


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
