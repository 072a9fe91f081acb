# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows: each file is right, what nodes have of it is current, and a wrong one is refused by file, entry and key."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground import catalog
from tools import rows

FILES = rows.files()
MODULE = """
from __future__ import annotations
from dataclasses import dataclass
from .._ground.check import Cause
from .._ground.table import load, load_by_key
from ._rows import parts as rows

@dataclass(frozen=True)
class Part:
    name: str
    means: str | Cause
    ports: tuple[int, ...] = ()
    share: float | None = None
    whole: bool = False

PARTS: tuple[Part, ...] = load(Part, rows.PARTS, means=Cause)
LISTED: tuple[Part, ...] = load(Part, rows.LISTED)
BY_NUMBER: dict[int, Part] = load_by_key(Part, rows.BY_NUMBER)
PAIRS: tuple[tuple[str, int], ...] = rows.PAIRS
WORDS: frozenset[str] = frozenset(rows.WORDS)
"""
RIGHT = """
source: a manual
confidence: confirmed
shared:
  - &lost it is lost
PARTS:
  a: {means: *lost, ports: [1, 2], share: 1}
  b: {means: {says: it broke, remedy: mend it}, whole: true}
LISTED:
  - {name: c, means: x}
BY_NUMBER:
  7: {name: d, means: x}
PAIRS: [[one, 1]]
WORDS: [x, y]
"""
WRONG = {
    "confidence: confirmed\n": ("", "parts.yml: confidence: missing"),
    "source: a manual": ("source: 7", "parts.yml: source: missing"),
    "whole: true": (
        "hole: true",
        "parts.yml: PARTS: b: hole: no such key; a Part has name, means, ports, share, whole",
    ),
    "ports: [1, 2]": ("ports: [1, x]", "parts.yml: PARTS: a: ports: 2 (x): 'x' is no int"),
    "share: 1": ("share: true", "parts.yml: PARTS: a: share: True is no float"),
    "remedy: mend it": ("cure: mend it", "parts.yml: PARTS: b: means: cure: no such key; a Cause has says, remedy"),
    "name: c, means: x": ("name: c", "parts.yml: LISTED: 1 (c): means: missing"),
    "7: {name: d": ("7: {nam: d", "parts.yml: BY_NUMBER: 7: name: missing"),
    "  7: {": ("  x7: {", "parts.yml: BY_NUMBER: x7: 'x7' is no int"),
    "[[one, 1]]": ("[[one, 1, 2]]", "parts.yml: PAIRS: 1: 3 values where 2 belong"),
    "WORDS: [x": ("WORDS: [1", "parts.yml: WORDS: 1: 1 is no str"),
    "WORDS: [x, y]": ("WORDS: x", "parts.yml: WORDS: 'x' is no frozenset"),
    "LISTED:\n": ("OTHER:\n", "parts.yml: OTHER: no table of parts.py; annotated there are:"),
    "  - {name: c, means: x}": ("  - c", "parts.yml: LISTED: 1 (c): 'c' is no Part"),
    "PAIRS: [[": ("PAIRS: [", "parts.yml: cannot be read as YAML:"),
}


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A table of its own, in place of the project's."""
    monkeypatch.setattr(rows, "ROOT", tmp_path)
    path = tmp_path / rows.DATA / "parts.yml"
    path.parent.mkdir(parents=True)
    path.with_suffix(".py").write_text(MODULE)
    path.write_text(RIGHT)
    yield path
    shutil.rmtree(tmp_path)


def held(text: str) -> dict[str, Any]:
    """The tables that the Python of a file holds."""
    found: dict[str, Any] = {}
    exec(text, found)
    return {name: value for name, value in found.items() if name.isupper()}


def test_each_file_is_right_and_what_nodes_have_of_it_is_current_and_no_more() -> None:
    made = rows.literals()
    assert {path: path.read_text() for path in made} == made
    assert set((rows.ROOT / "plugins").rglob("_rows/*.py")) == set(made)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_pattern_is_one(path: Path) -> None:
    def patterns(value: Any) -> Iterator[str]:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            if key == "pattern":
                yield one
            elif isinstance(one, (dict, list)):
                yield from patterns(one)

    for pattern in patterns(rows.read(path)):
        re.compile(pattern)


def test_a_right_file_is_read(parts: Path) -> None:
    assert rows.read(parts)["PARTS"]["a"] == {"means": "it is lost", "ports": [1, 2], "share": 1}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_refused_by_file_entry_and_key(parts: Path, text: str) -> None:
    instead, says = WRONG[text]
    assert text in RIGHT
    parts.write_text(RIGHT.replace(text, instead))
    with pytest.raises(rows.RowsError) as raised:
        rows.read(parts)
    assert says in str(raised.value)


def test_a_pattern_may_be_a_list_of_which_one_matches(parts: Path) -> None:
    parts.with_suffix(".py").write_text(MODULE.replace("means:", "pattern:"))
    parts.write_text(RIGHT.replace("means: x", "pattern: ['a|b', c]").replace("means", "pattern"))
    assert rows.read(parts)["LISTED"] == [{"name": "c", "pattern": "a|b|c"}]


def test_rows_are_written_once_said_to_be_stale_and_taken_away(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows.bring(check=True) == 1
    assert "_rows/parts.py is stale; run ./run docs" in capsys.readouterr().err
    assert (rows.bring(), rows.bring(check=True)) == (0, 0)
    made = held(rows.written(parts).read_text())
    assert (made["PAIRS"], made["BY_NUMBER"]) == ((("one", 1),), {7: {"name": "d", "means": "x"}})
    parts.write_text(RIGHT.replace("whole: true", "whole: 1"))
    assert rows.bring() == 1
    assert held(rows.written(parts).read_text()) == made
    parts.unlink()
    assert (rows.bring(check=True), rows.bring()) == (1, 0)
    assert list(rows.written(parts).parent.glob("*.py")) == []


CHECK = """
source: a manual
confidence: confirmed
CHECKS:
  gpu.part.lost:
    title: No part is lost
    consequence: stops
    meaning: It is there.
    causes: [it fell out]
    remedy: put it in
    zh: {title: a, remedy: b, cause: c}
"""
WRONG_CHECKS = {
    "consequence: stops": ("consequence: halts", "gpu.part.lost: consequence: 'halts' is none of stops, slows,"),
    "    remedy: put it in\n": ("", "gpu.part.lost: remedy: missing"),
    "causes: [it": ("cause: [it", "gpu.part.lost: cause: no such key; a CheckRow has id, title,"),
    ", cause: c": ("", "gpu.part.lost: zh: cause: missing"),
    "[it fell out]": ("it fell out", "gpu.part.lost: causes: 'it fell out' is no tuple"),
}


@pytest.fixture
def area(parts: Path) -> Path:
    """The checks of an area."""
    path = rows.ROOT / "plugins/module_utils/_areas/gpu/checks.yml"
    path.parent.mkdir(parents=True)
    path.write_text(CHECK)
    return path


def test_a_check_goes_to_nodes_without_its_chinese_which_the_page_has(area: Path) -> None:
    assert rows.bring() == 0
    (row,) = catalog.declare(held(rows.written(area).read_text())["CHECKS"])
    assert (row.id, row.severity, row.causes) == ("gpu.part.lost", "error", ("it fell out",))
    assert held((rows.ROOT / rows.CHINESE).read_text()) == {"CHINESE": {"gpu.part.lost": ("a", "b", "c")}}


@pytest.mark.parametrize("text", WRONG_CHECKS)
def test_a_wrong_check_is_refused_by_file_entry_and_key(area: Path, text: str) -> None:
    instead, says = WRONG_CHECKS[text]
    assert text in CHECK
    area.write_text(CHECK.replace(text, instead))
    with pytest.raises(rows.RowsError) as raised:
        rows.read(area)
    assert f"gpu/checks.yml: CHECKS: {says}" in str(raised.value)


def test_an_id_is_of_one_area(area: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = area.parents[1] / "pci/checks.yml"
    other.parent.mkdir()
    other.write_text(CHECK)
    assert rows.bring() == 1
    assert "pci/checks.yml: gpu.part.lost: another area has a check of this id" in capsys.readouterr().err


def lists_as_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(lists_as_tuples, value))
    return {key: lists_as_tuples(one) for key, one in value.items()} if isinstance(value, dict) else value


TEXT = st.text("ab '\"\\\\|é", max_size=400)
PLAIN = st.none() | st.booleans() | st.integers(-9, 2**64) | st.floats(-1, 1) | TEXT
KEYS = st.text("abc ", max_size=20) | st.integers(0, 99)
TABLES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner), max_leaves=10)


@given(TABLES)
def test_the_python_holds_what_the_file_does_in_lines_of_bearable_width(value: Any) -> None:
    text = rows.literal("parts", {"TABLE": value})
    assert held(text) == {"TABLE": lists_as_tuples(value)}
    # A text of quotes and backslashes alone is twice as long in Python.
    assert max(len(line) - line.count("\\") for line in text.splitlines()) <= 160
