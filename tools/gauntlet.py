# SPDX-License-Identifier: GPL-3.0-or-later
"""The gauntlet's tables in both READMEs, as they have to be: all found, nothing else. A test runs it and compares."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.gauntlet import fault, render as nodes
from tests.gauntlet.switches import site

# The words before a row of each language.
LANGUAGES = {
    "README.md": ("healthy boards", "odd, and healthy", "healthy with switches", "faults: "),
    "README.zh-CN.md": ("健康的主板", "少见但健康", "连同交换机健康", "故障："),
}
_LABELS = "|".join("|".join(healthy) + f"|{faults}\\w+" for *healthy, faults in LANGUAGES.values())
_ROWS = re.compile(rf"(?:^\| (?:{_LABELS}) \|.*\n)+", re.MULTILINE)
_BOARDS = re.compile(r"(?<=simulated nodes of )\d+(?= boards)|(?<=评判 )\d+(?= 种主板)")
# The ledger's page begins with its own table, which the README shows.
LEDGER = ROOT / "docs/evidence-ledger.md"
_BENT = re.compile(r"(?:^\| [a-z]+ (?:\| \d+ ){5}\| \d+ % \|\n)+", re.MULTILINE)


def render(readme: Path) -> str:
    """The README with the rows and the number of boards of today."""
    healthy, odd, sites, faults = LANGUAGES[readme.name]
    boards = len(nodes.boards())
    areas = Counter(each.area for each in [*fault.load(), *site.load()])
    sound = {healthy: boards, odd: len(fault.oddities()), sites: len(site.SYSTEMS)}
    rows = [f"| {label} | {number} | - | - | 0 |" for label, number in sound.items()]
    rows += [f"| {faults}{area} | {number} | {number} | 0 | 0 |" for area, number in sorted(areas.items())]
    text, tables = _ROWS.subn("\n".join(rows) + "\n", readme.read_text())
    text, numbers = _BOARDS.subn(str(boards), text)
    text, bent = _BENT.subn(_BENT.findall(LEDGER.read_text())[0], text)
    if (tables, numbers, bent) != (1, 1, 1):
        told = f"{tables} tables of the gauntlet, {numbers} numbers of boards and {bent} tables of the ledger"
        raise ValueError(f"{readme.name}: {told}, not one of each")
    return text
