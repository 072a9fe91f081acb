# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what the programs of perftest print: ib_write_bw, ib_read_lat, ib_send_lat.

The text is the same in all releases from 3 to 25 but for its head; what --out_json writes is not
(some releases write words without quotes), and says no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, flat_lines

_TOOL = "perftest"
# The reason where the line is the program's own last word.
NO_TABLE = "no table of results"
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,9})?"
_ROW = re.compile(rf"[0-9]{{1,12}}(?: +{_NUMBER}){{3,12}}")
_COLUMN = re.compile(r"(?:99(?:\.9)?% |BW |tps )?\S+")
_FIELD = re.compile(r"(Device|Link type|Transport type|Mtu|GID index|Connection type) *: ?(\S+)")
# MB in older releases and MiB in newer ones are both 2**20 bytes, as their own help says.
_UNITS = {"Gb/sec": 1.0, "MB/sec": 2**20 * 8 / 1e9, "MiB/sec": 2**20 * 8 / 1e9}


@dataclass(frozen=True)
class Bandwidth:
    """One row: bytes of a message, iterations, Gb/s."""

    size: int
    iterations: int
    gbps: float


@dataclass(frozen=True)
class Latency:
    """One row: bytes of a message, iterations, microseconds; ``typical`` is the median.

    ``p99`` is None where the release does not print it. With -D there is only the mean.
    """

    size: int
    iterations: int
    typical: float
    average: float
    p99: float | None = None


@dataclass(frozen=True)
class Perftest:
    """``about``: of the head, by its words (Device, Link type, Mtu). One of the lists is empty."""

    about: tuple[tuple[str, str], ...]
    bandwidth: tuple[Bandwidth, ...] = ()
    latency: tuple[Latency, ...] = ()


def parse(text: str) -> Perftest:
    """The client's results; ParseError for a text without a table, naming the last complaint."""
    lines = flat_lines(text)
    head = [number for number, line in enumerate(lines) if line.startswith("#bytes ")]
    if len(head) != 1:
        raise _without_table(lines, len(head))
    names = [match.group(0) for match in _COLUMN.finditer(lines[head[0]])]
    rows: list[tuple[int, str]] = []
    for number, line in enumerate(lines[head[0] + 1 :], head[0] + 1):
        if line.startswith("---"):
            break
        # "Conflicting CPU frequency values detected" comes in between.
        if _ROW.fullmatch(line):
            rows.append((number, line))
    if not rows:
        raise ParseError(_TOOL, head[0] + 1, lines[head[0]], "no result below this line")
    about = tuple(dict(_FIELD.findall(" ".join(lines[: head[0]]))).items())
    table = [_values(names, number, line) for number, line in rows]
    if any(name.startswith("BW average") for name in names):
        return Perftest(about, bandwidth=tuple(_bandwidth(entry) for entry in table))
    return Perftest(about, latency=tuple(_latency(head[0], lines[head[0]], entry) for entry in table))


def _values(names: list[str], number: int, line: str) -> dict[str, float]:
    words = line.split()
    # CPU_Util and the columns of each port stand at the end, where they were asked for.
    if len(words) < len(names):
        raise ParseError(_TOOL, number + 1, line, f"{len(words)} values for {len(names)} columns")
    return dict(zip(names, map(float, words)))


def _bandwidth(row: dict[str, float]) -> Bandwidth:
    name = next(name for name in row if name.startswith("BW average"))
    unit = name.partition("[")[2].rstrip("]")
    if unit not in _UNITS:
        raise ParseError(_TOOL, 0, "", f"bandwidth in {unit!r}, which is no unit of ours")
    return Bandwidth(int(row["#bytes"]), int(row.get("#iterations", 0)), row[name] * _UNITS[unit])


def _latency(number: int, head: str, row: dict[str, float]) -> Latency:
    average = row.get("t_avg[usec]")
    typical = row.get("t_typical[usec]", average)
    if typical is None:
        raise ParseError(_TOOL, number + 1, head, "neither bandwidth nor latency")
    return Latency(
        size=int(row["#bytes"]),
        iterations=int(row.get("#iterations", 0)),
        typical=typical,
        average=typical if average is None else average,
        p99=row.get("99% percentile[usec]"),
    )


def _without_table(lines: list[str], tables: int) -> ParseError:
    if tables:
        return ParseError(_TOOL, 0, "", f"{tables} tables of results, and one run has one")
    # What follows from the first word that something went wrong says less.
    said = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if line and not line.startswith(("---", "***", "* Waiting")) and not _FIELD.search(line)
    ]
    wrong = [line for line in said if re.search(r"(?i)unable|fail|couldn't|cannot|error", line[1])]
    if not said:
        return ParseError(_TOOL, 0, "", f"empty output: {NO_TABLE}")
    number, line = wrong[0] if wrong else said[-1]
    return ParseError(_TOOL, number, line, NO_TABLE, tuple(entry[1] for entry in wrong))
