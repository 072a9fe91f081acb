# SPDX-License-Identifier: GPL-3.0-or-later
"""What the forms of dcgmi's output share: tests, incidents, and the rows of its tables of two columns."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASS, FAIL, WARN, SKIP = "Pass", "Fail", "Warn", "Skip"
HEALTHY, WARNING, FAILURE = "Healthy", "Warning", "Failure"

# The name of a part stands in the rule above it: `|-----  Metadata  ----------+-----|`.
_PART = re.compile(r"[|+]-{3,8} {1,2}([A-Z][A-Za-z ]{1,30}?) {1,2}-{2,40}\+-{5,160}[|+]?")
_RULE = re.compile(r"[|+][-=+]{10,250}[|+]?")
_ROW = re.compile(r"\|([^|]{0,120})\|([^|]{0,250})(\|?)")


@dataclass(frozen=True)
class Result:
    """What came of a test. ``entities``: on which (GPU0, CPU1); () where the table names none."""

    result: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """``kind``: Warning, Error or Info. ``entity``: whose, "" where that is not told."""

    kind: str
    text: str
    entity: str = ""


@dataclass(frozen=True)
class Test:
    """``part``: Deployment, Integration, Hardware or Stress; "" where it is not shown.

    ``name``: "" of what DCGM says of a part as a whole; it has no results then.
    """

    name: str
    part: str
    results: tuple[Result, ...]
    said: tuple[Said, ...] = ()


@dataclass(frozen=True)
class Incident:
    """What a watch saw of an entity (GPU 0) in one of its systems (PCIe system)."""

    entity: str
    system: str
    state: str
    text: str


@dataclass(frozen=True)
class Row:
    """``left`` and ``right`` with their blanks; of a rule ``part`` is the name in it. ``closed``: with its last bar."""

    left: str = ""
    right: str = ""
    closed: bool = True
    part: str = ""
    rule: bool = False


def row(line: str) -> Row | None:
    """A row or a rule of a table; None for another line."""
    flat = " ".join(line.split())
    part = _PART.fullmatch(flat)
    if part is not None:
        return Row(part=part.group(1), rule=True)
    if _RULE.fullmatch(flat):
        return Row(rule=True)
    cells = _ROW.fullmatch(line.strip())
    return Row(cells.group(1), cells.group(2), closed=bool(cells.group(3))) if cells is not None else None
