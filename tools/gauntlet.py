# SPDX-License-Identifier: GPL-3.0-or-later
"""The gauntlet's table in both READMEs, as it has to be: every fault found. A test runs it and compares."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.gauntlet import fault, render as nodes

# The words before a row of each language.
LANGUAGES = {"README.md": ("healthy boards", "faults: "), "README.zh-CN.md": ("健康的主板", "故障：")}
_ROWS = re.compile(r"(?:^\| (?:healthy boards|健康的主板|faults: \w+|故障：\w+) \|.*\n)+", re.MULTILINE)
_BOARDS = re.compile(r"(?<=simulated nodes of )\d+(?= boards)|(?<=评判 )\d+(?= 种主板)")


def render(readme: Path) -> str:
    """The README with the rows and the number of boards of today."""
    healthy, faults = LANGUAGES[readme.name]
    boards = len(nodes.boards())
    areas = Counter(each.area for each in fault.load())
    rows = [f"| {healthy} | {boards} | - | - | 0 |"]
    rows += [f"| {faults}{area} | {number} | {number} | 0 | 0 |" for area, number in sorted(areas.items())]
    text, tables = _ROWS.subn("\n".join(rows) + "\n", readme.read_text())
    text, numbers = _BOARDS.subn(str(boards), text)
    if (tables, numbers) != (1, 1):
        raise ValueError(
            f"{readme.name}: {tables} tables of the gauntlet and {numbers} numbers of boards, not one of each"
        )
    return text
