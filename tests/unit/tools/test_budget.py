# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines are counted by room, and a room that grows or is new has to be argued for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import budget

TEXT = "---\n# Why.\n\nplugins/modules: 300\nplugins (yml): 200\ntools: 500\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout of two rooms and a row, with a literal that is generated."""
    for name, lines in {
        "plugins/modules/one.py": 2,
        "plugins/modules/two.py": 1,
        "plugins/module_utils/_areas/gpu/area.py": 4,
        "plugins/module_utils/_areas/gpu/_rows/checks.py": 100,
        "plugins/module_utils/_areas/gpu/checks.yml": 2,
        "tools/budget.py": 1,
        "docs/conf.py": 9,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n" * lines)
    return tmp_path


def test_lines_are_counted_once_by_room(tree: Path) -> None:
    assert budget.lines(tree) == {
        "plugins (yml)": 2,
        "plugins/module_utils/_areas": 4,
        "plugins/modules": 3,
        "tools": 1,
    }


def test_a_room_that_grew_a_new_one_and_one_that_went_are_told(tree: Path) -> None:
    wrong = budget.over(budget.lines(tree), {"plugins/modules": 2, "plugins (yml)": 2, "tools": 1, "gone": 1})
    assert [line.partition(":")[0] for line in wrong] == ["gone", "plugins/module_utils/_areas", "plugins/modules"]
    assert budget.over(budget.lines(tree), {**budget.lines(tree), "tools": 5}) == []


def test_numbers_are_lowered_and_never_raised() -> None:
    lowered = budget.lowered(TEXT, {"plugins/modules": 400, "plugins (yml)": 101, "tools": 480})
    assert lowered == TEXT.replace("(yml): 200", "(yml): 150")
