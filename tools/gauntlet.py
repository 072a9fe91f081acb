# SPDX-License-Identifier: GPL-3.0-or-later
"""The gauntlet's tables in docs/testing.md, as they have to be: all found, nothing else; a test compares them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.gauntlet import fault, render as nodes
from tests.gauntlet.switches import site

PAGE = ROOT / "docs/testing.md"
_ROWS = re.compile(
    r"(?:^\| (?:healthy boards|odd, and healthy|healthy with switches|faults: \w+) \|.*\n)+", re.MULTILINE
)
_BOARDS = re.compile(r"(?<=simulated nodes of )\d+(?= boards)")
# The ledger's page begins with its own table, which this one shows.
LEDGER = ROOT / "docs/evidence-ledger.md"
_BENT = re.compile(r"(?:^\| [a-z]+ (?:\| \d+ ){5}\| \d+ % \|\n)+", re.MULTILINE)


def render() -> str:
    """The page with the rows and the number of boards of today."""
    boards = len(nodes.boards())
    areas = Counter(each.area for each in [*fault.load(), *site.load()])
    sound = {
        "healthy boards": boards,
        "odd, and healthy": len(fault.oddities()),
        "healthy with switches": len(site.SYSTEMS),
    }
    rows = [f"| {label} | {number} | - | - | 0 |" for label, number in sound.items()]
    rows += [f"| faults: {area} | {number} | {number} | 0 | 0 |" for area, number in sorted(areas.items())]
    text, tables = _ROWS.subn("\n".join(rows) + "\n", PAGE.read_text())
    text, numbers = _BOARDS.subn(str(boards), text)
    text, bent = _BENT.subn(_BENT.findall(LEDGER.read_text())[0], text)
    if (tables, numbers, bent) != (1, 1, 1):
        told = f"{tables} tables of the gauntlet, {numbers} numbers of boards and {bent} tables of the ledger"
        raise ValueError(f"{PAGE.name}: {told}, not one of each")
    return text
