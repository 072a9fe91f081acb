# SPDX-License-Identifier: GPL-3.0-or-later
"""A run has the same cases every day, and says what it left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from tests import cases

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest
from hypothesis import given, strategies as st

@pytest.mark.thorough
@pytest.mark.parametrize("at", range(3))
def test_long(at): ...

@given(st.integers())
def test_drawn(number):
    print("drawn", number)
"""


def item(name: str, *marks: str) -> Any:
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda mark: mark if mark in marks else None)


ITEMS = [item("plain"), item("long[0]", "thorough"), item("long[1]", "thorough")]


def test_thorough_tests_run_only_where_all_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "ALL", False)
    assert cases.everyday(ITEMS) == (ITEMS[:1], ITEMS[1:])
    monkeypatch.setattr(cases, "ALL", True)
    assert cases.everyday(ITEMS) == (ITEMS, [])


def test_of_each_kind_the_first_runs_every_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "ALL", False)
    assert cases.some(["b1", "a1", "b2"], lambda case: case[0]) == ["b1", "a1"]
    monkeypatch.setattr(cases, "ALL", True)
    assert cases.some(["b1", "a1", "b2"], lambda case: case[0]) == ["b1", "a1", "b2"]


def suite(folder: Path, wanted: str, *args: str) -> str:
    """Run a small suite below the conftest of the unit tests, and return what it printed."""
    (folder / "conftest.py").write_text((ROOT / "tests/unit/conftest.py").read_text())
    (folder / "test_small.py").write_text(SUITE)
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-n0",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(ROOT),
    ]
    done = subprocess.run(
        [*argv, *args, str(folder)],
        cwd=ROOT,
        env={**os.environ, "IBREADY_CASES": wanted},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def drawn(text: str) -> list[str]:
    return [line for line in text.splitlines() if "drawn" in line]


def test_a_run_says_how_many_tests_it_left_out(tmp_path: Path) -> None:
    told = suite(tmp_path, "")
    assert "3 thorough tests were left out; IBREADY_CASES=all runs them" in told
    assert "1 passed, 3 deselected" in told


def test_examples_are_the_same_every_day() -> None:
    assert settings().derandomize is not cases.ALL
    assert settings().database is None


@pytest.mark.thorough
def test_where_all_are_asked_for_examples_are_drawn_by_a_seed_that_is_printed(tmp_path: Path) -> None:
    assert drawn(suite(tmp_path, "")) == drawn(suite(tmp_path, ""))
    one = suite(tmp_path, "all")
    assert "4 passed" in one
    (seed,) = (line.rpartition("=")[2] for line in one.splitlines() if "--hypothesis-seed=" in line)
    assert drawn(suite(tmp_path, "all", f"--hypothesis-seed={seed}")) == drawn(one)
    assert drawn(suite(tmp_path, "all", f"--hypothesis-seed={int(seed) + 1}")) != drawn(one)
