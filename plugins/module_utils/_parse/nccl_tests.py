# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what nccl-tests prints (all_reduce_perf), with the columns of every release.

The line above the numbers names them: root came with release 2.11, #wrong was error before 2.13,
and options add some at the end. A row of one block of numbers alone is in-place.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines

_TOOL = "nccl-tests"
NOTHING: dict[str, Any] = {"average": None, "peak": None, "wrong": None, "bounds": None, "ranks": [], "rows": []}
_HEAD = re.compile(r"# *size +count +type\b.*\bbusbw\b")
_AVERAGE = re.compile(r"# Avg bus bandwidth *: *([0-9]{1,9}(?:\.[0-9]{1,9})?)")
_BOUNDS = re.compile(r"# Out of bounds values *: *([0-9]{1,18}) *(OK|FAILED)?")
_RANK = re.compile(r"# *Rank +([0-9]{1,9})\b.*? on +(\S{1,255}) device +[0-9]{1,4} \[[^\]]*\] *(.*)")
_FAILURE = re.compile(r"Test (?:NCCL|CUDA) failure|: Test .{0,40}failure|test failure")
# Columns that every row has before its numbers: size, count and type.
_ALWAYS = 3
_INTEGER = re.compile(r"[0-9]{1,18}")
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?(?:e[+-][0-9]{1,3})?|inf|nan")


@dataclass(frozen=True)
class Block:
    """Microseconds, GB/s, and how many values were wrong (None: nobody checked)."""

    time_us: float
    algbw: float
    busbw: float
    wrong: float | None


@dataclass(frozen=True)
class Row:
    """One message size in bytes."""

    size: int
    out_of_place: Block | None
    in_place: Block


@dataclass(frozen=True)
class Rank:
    """One GPU of the job."""

    rank: int
    host: str
    gpu: str


@dataclass(frozen=True)
class NcclTests:
    """``average``: the mean bus bandwidth as printed, GB/s; None where the end is missing, which has it.
    ``bounds``: values out of bounds."""

    rows: tuple[Row, ...]
    average: float | None
    bounds: int
    ranks: tuple[Rank, ...]

    @property
    def peak(self) -> float:
        """The most of any size, GB/s."""
        return max(block.busbw for block in self._blocks() if math.isfinite(block.busbw))

    @property
    def wrong(self) -> float | None:
        """How many values were wrong; None where no row was checked."""
        reported = [block.wrong for block in self._blocks() if block.wrong is not None]
        return max(sum(reported), float(self.bounds)) if reported else (float(self.bounds) or None)

    def _blocks(self) -> list[Block]:
        return [entry for row in self.rows for entry in (row.out_of_place, row.in_place) if entry]


def parse(text: str) -> NcclTests:
    """The results of one run; ParseError where it failed, or is another's."""
    lines = flat_lines(text)
    for number, line in enumerate(lines, 1):
        if _FAILURE.search(line):
            raise ParseError(_TOOL, number, line, "the test failed", (line,))
    heads = [(number, line) for number, line in enumerate(lines) if _HEAD.match(line)]
    if not heads:
        said = next((line for line in reversed(lines) if line), "")
        raise ParseError(_TOOL, len(lines), said, "no table of results")
    names = heads[0][1].lstrip("#").split()
    if "time" not in names:
        raise ParseError(_TOOL, heads[0][0] + 1, heads[0][1], "no column is named time")
    rows = [
        _row(names, number + 1, line)
        for number, line in enumerate(lines)
        if number > heads[0][0] and _INTEGER.fullmatch(line.partition(" ")[0])
    ]
    average = [match for match in map(_AVERAGE.match, lines) if match]
    bounds = [match for match in map(_BOUNDS.match, lines) if match]
    if not rows:
        raise ParseError(_TOOL, heads[0][0] + 1, heads[0][1], "no row of results")
    blocks = (entry for row in rows for entry in (row.out_of_place, row.in_place) if entry)
    if not any(math.isfinite(block.busbw) for block in blocks):
        raise ParseError(_TOOL, heads[0][0] + 1, heads[0][1], "no bus bandwidth that is a number")
    ranks = [match for match in map(_RANK.match, lines) if match]
    return NcclTests(
        tuple(rows),
        float(average[-1][1]) if average else None,
        int(bounds[-1][1]) if bounds else 0,
        tuple(Rank(int(rank[1]), rank[2], rank[3]) for rank in ranks),
    )


def _row(names: list[str], number: int, line: str) -> Row:
    words = line.split()
    begin = names.index("time")
    # What sums nothing has no redop, and prints blanks in its place.
    missing = len(names) - len(words)
    begin -= missing if 0 < missing <= begin - _ALWAYS else 0
    columns = names[names.index("time") :]
    width = columns.index("time", 1) if columns.count("time") > 1 else 4
    blocks = [
        _block(columns[:width], words[at : at + width], number, line)
        for at in range(begin, len(words) - width + 1, width)
    ][: names.count("time")]
    if not blocks:
        raise ParseError(_TOOL, number, line, f"{len(words)} values for {len(names)} columns")
    return Row(int(words[0]), blocks[0] if len(blocks) > 1 else None, blocks[-1])


def _block(names: list[str], words: list[str], number: int, line: str) -> Block:
    reported = dict(zip(names, words))
    wrong = reported.get("#wrong", reported.get("error", "N/A"))
    values = [reported.get(name, "") for name in ("time", "algbw", "busbw")]
    checked = [*values, *([] if wrong == "N/A" else [wrong])]
    if not all(_NUMBER.fullmatch(entry) for entry in checked):
        raise ParseError(_TOOL, number, line, "not 'time algbw busbw #wrong'")
    time, algbw, busbw = map(float, values)
    # Before 2.13 the column was the largest difference, and only the bounds told what is wrong.
    count = float(wrong) if "#wrong" in reported and wrong != "N/A" else 0.0
    return Block(time, algbw, busbw, None if wrong == "N/A" else count)


def facts(parsed: NcclTests) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    cut = {"cut": True} if parsed.average is None else {}
    return {
        **cut,
        "average": parsed.average,
        "peak": parsed.peak,
        "wrong": parsed.wrong,
        "bounds": parsed.bounds,
        "ranks": [asdict(rank) for rank in parsed.ranks],
        "rows": [
            {"size": row.size, "out_of_place": _numbers(row.out_of_place), "in_place": _numbers(row.in_place)}
            for row in parsed.rows
        ],
    }


def _numbers(block: Block | None) -> dict[str, float | None] | None:
    """What is not finite is no number of JSON."""
    if block is None:
        return None
    return {name: value if value is None or math.isfinite(value) else None for name, value in asdict(block).items()}


def wrong(parsed: NcclTests) -> tuple[str, ...]:
    """Values that were computed wrong."""
    return (f"nccl-tests found {parsed.wrong:g} wrong values",) if parsed.wrong else ()
