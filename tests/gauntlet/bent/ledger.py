# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/evidence-ledger.md: every field of every source, and which check judges it or why none does."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.gauntlet.bent.walk import Result, Way

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "evidence-ledger.md"
# Why a field is not judged, by kind; the last is work that is left.
WHY = {
    "name": "names a thing, and another name is another thing",
    "reading": "says how the text was read",
    "twice": "another source tells the same, and is judged",
    "harmless": "no value of it slows or stops a job",
    "rise": "judged by how it rises between two looks; what stands still is history",
    "asked": "an answer to what a check asks only where something else is wrong",
    "later": "not judged yet",
}
NOBODY = "nobody"
# A source that more areas go by tells which machine it is.
_MANY = 8
_HEAD = (
    "# The ledger of evidence\n\n"
    "Written by `./run gauntlet ledger`; a test holds it. Nothing here was recorded on real hosts: the sources are "
    "those of the [gauntlet](../tests/gauntlet/README.md)'s simulated healthy nodes.\n\n"
    "Every field that a parser returns, and every file that holds one value, is bent on healthy boards that have "
    "it, four at most, until a check finds it: another number, 0, another word, nothing, and something where a "
    "healthy node has nothing; in one of its places alone, and in all alike. A way is found where a check fails or "
    "is unknown by it. What no check of the node finds is bent on a node between two equal ones. *judged by*: the "
    "checks that found it in any way; *ways*: how many of the ways were found; then a way that was. Where nobody "
    "judges a field, the last column says why, from `tests/gauntlet/bent/reasons.yml`. Texts of several lines that "
    "no parser reads are not bent.\n\n"
)


class Row(NamedTuple):
    """A line of the page. ``way``: a way in which the field was found, "" where it was not."""

    source: str
    field: str
    area: str
    board: str
    by: tuple[str, ...]
    found: int
    ways: int
    note: str


@dataclass(frozen=True)
class Reason:
    """Why the fields that these patterns name (``SOURCE FIELD``, ``*`` for anything) are not judged."""

    fields: tuple[str, ...]
    kind: str
    because: str = ""

    def covers(self, row: Row) -> bool:
        """Whether it is said of this field."""
        return any(fits(each, row) for each in self.fields)

    def __str__(self) -> str:
        return f"{WHY[self.kind]}: {self.because}" if self.because else WHY[self.kind]


def fits(pattern: str, row: Row) -> bool:
    """Whether the field is one of those that this pattern of reasons.yml names."""
    return _pattern(pattern).fullmatch(f"{row.source} {row.field}".strip()) is not None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*", ".*"))


@cache
def reasons() -> tuple[Reason, ...]:
    """Those of reasons.yml; raises KeyError on a kind that is none."""
    told = yaml.safe_load((Path(__file__).parent / "reasons.yml").read_text())
    found = tuple(Reason(tuple(raw["fields"]), raw["kind"], raw.get("because", "")) for raw in told)
    unknown = {each.kind for each in found} - set(WHY)
    if unknown:
        raise KeyError(f"no such kind of reason: {sorted(unknown)}")
    return found


def row(came: Result) -> Row:
    """The line of what came of a field."""
    by = tuple(sorted(came.judged_by or came.equals))
    found = sum(1 for ids in came.found.values() if ids)
    note = _first(came)
    if not by and came.other:
        by, note = tuple(sorted(came.other)), "decides what they say"
    area = came.field.areas[0] if len(came.field.areas) < _MANY else "machine"
    made = Row(came.field.source, came.field.name, area, came.board, by, found, len(came.found), note)
    return made if by else reasoned(made._replace(by=(NOBODY,)))


def reasoned(made: Row) -> Row:
    """The line with the reason of now, where nobody judges the field."""
    return made if made.by != (NOBODY,) else made._replace(note=_why(made))


def _first(came: Result) -> str:
    if came.equals:
        return "between equal hosts"
    return next((said(way) for way, ids in came.found.items() if ids), "")


def said(way: Way) -> str:
    """A way as the page names it."""
    return f"{way.kind}, {way.many}"


def _why(made: Row) -> str:
    return next((str(reason) for reason in reasons() if reason.covers(made)), "")


def page(rows: Iterable[Row]) -> str:
    """The whole page."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for each in rows:
        by_source["files of one value" if not each.field else each.source].append(each)
    parts = [_HEAD, summary([each for mine in by_source.values() for each in mine]), "\n"]
    for source, mine in by_source.items():
        parts.append(f"\n## {source}\n\n| field | area | board | judged by | ways | |\n|---|---|---|---|---:|---|\n")
        parts += [line(each) for each in mine]
    return "".join(parts)


def line(each: Row) -> str:
    """The field's line of the page."""
    by = ", ".join(each.by)
    ways = f"{each.found}/{each.ways}"
    return f"| `{each.field or each.source}` | {each.area} | {each.board} | {by} | {ways} | {each.note} |\n"


def summary(rows: Iterable[Row]) -> str:
    """How much is found, by area: docs/testing.md shows it."""
    by_area: dict[str, list[Row]] = defaultdict(list)
    for each in rows:
        by_area[each.area].append(each)
        by_area["all"].append(each)
    lines = ["| area | fields | judged | with a reason | not yet | ways bent | ways found |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for area in sorted(by_area, key=lambda name: (name == "all", name)):
        mine = by_area[area]
        later = sum(is_later(each) for each in mine)
        judged = sum(each.by != (NOBODY,) for each in mine)
        ways, found = sum(each.ways for each in mine), sum(each.found for each in mine)
        share = f"{100 * found // max(ways, 1)} %"
        lines.append(f"| {area} | {len(mine)} | {judged} | {len(mine) - judged - later} | {later} | {ways} | {share} |")
    return "\n".join(lines)


def is_later(each: Row) -> bool:
    """Whether a field waits for somebody's time."""
    return each.by == (NOBODY,) and (not each.note or each.note.startswith(WHY["later"]))


_ROW = re.compile(r"\| `(.+?)` \| (\w+) \| (\S+) \| (.+?) \| (\d+)/(\d+) \| (.*?) ?\|")


def read(text: str) -> list[Row]:
    """The lines of a page."""
    rows, source = [], ""
    for each in text.splitlines():
        if each.startswith("## "):
            source = each[3:]
        elif told := _ROW.fullmatch(each):
            field, area, board, by, found, ways, note = told.groups()
            whose, name = (field, "") if source == "files of one value" else (source, field)
            rows.append(Row(whose, name, area, board, tuple(by.split(", ")), int(found), int(ways), note))
    return rows
