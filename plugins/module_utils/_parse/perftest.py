# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what the programs of perftest print: ib_write_bw, ib_read_lat, ib_send_lat.

The text is the same in all releases from 3 to 25 but for its head; what --out_json writes is not
(some releases write words without quotes), and says no more.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines

_TOOL = "perftest"
NOTHING: dict[str, Any] = {"about": {}, "bandwidth": [], "latency": [], "peer_bandwidth": [], "peer_latency": []}
# The reason where the line is the program's own last word.
NO_TABLE = "no table of results"
# `Failed status 12: wr_id 0 syndrom 0x81`: flushed, too many tries, and too many for a receiver that is not ready.
_STATUS = re.compile(r"Failed status (\d{1,3})\b")
_TRANSPORT = (5, 12, 13)
_QUIET = re.compile(r"---|Conflicting CPU frequency|WARNING|Warning")
_WAITS = "* Waiting for client"
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,9})?"
_ROW = re.compile(rf"[0-9]{{1,12}}(?: +{_NUMBER}){{3,12}}")
# Lines are flat here. Other benchmarks call theirs #repetitions.
_TABLE = "#bytes #iterations "
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
    """``about``: of the head, by its words (Device, Link type, Mtu). Bandwidth or latency is empty.

    ``peer_...``: what the other end printed in the same text, where that is something else.
    """

    about: tuple[tuple[str, str], ...]
    bandwidth: tuple[Bandwidth, ...] = ()
    latency: tuple[Latency, ...] = ()
    peer_bandwidth: tuple[Bandwidth, ...] = ()
    peer_latency: tuple[Latency, ...] = ()


def parse(text: str) -> Perftest:
    """The client's results; ParseError for a text without a table, naming the last complaint."""
    lines = flat_lines(text)
    head = [number for number, line in enumerate(lines) if line.startswith(_TABLE)]
    # A server says that it waits, so that two tables are of the two ends of one run.
    both = len(head) == 2 and any(line.startswith(_WAITS) for line in lines) and lines[head[0]] == lines[head[1]]
    if len(head) != 1 and not both:
        raise _without_table(lines, len(head))
    names = [match.group(0) for match in _COLUMN.finditer(lines[head[0]])]
    tables = _tables(lines, head[0] + 1, 2 if both else 1)
    if not tables:
        raise ParseError(_TOOL, head[0] + 1, lines[head[0]], "no result below this line")
    about = tuple(dict(_FIELD.findall(" ".join(lines[: head[0]]))).items())
    read = [[_values(names, number, line) for number, line in rows] for rows in tables]
    # The end whose table is shorter printed only a part, or its lines were lost.
    read.sort(key=len, reverse=True)
    mine, other = read[0], [row for rows in read[1:] for row in rows if row not in read[0]]
    if any(name.startswith("BW average") for name in names):
        return Perftest(
            about,
            bandwidth=tuple(_bandwidth(entry) for entry in mine),
            peer_bandwidth=tuple(_bandwidth(entry) for entry in other),
        )
    return Perftest(
        about,
        latency=tuple(_latency(head[0], lines[head[0]], entry) for entry in mine),
        peer_latency=tuple(_latency(head[0], lines[head[0]], entry) for entry in other),
    )


def lost(text: str) -> bool:
    """Whether a run that gave no numbers met a way over which data does not get through.

    Either its transport gave up (a completion's status 5, 12 or 13), or it began and no message arrived in its time.
    Whatever else it complains of, of memory or its own end, says nothing of the way.
    """
    lines = flat_lines(text)
    status = [int(found.group(1)) for found in map(_STATUS.search, lines) if found is not None]
    if status:
        return status[0] in _TRANSPORT
    heads = [number for number, line in enumerate(lines) if line.startswith(_TABLE)]
    return len(heads) == 1 and not any(line and not _QUIET.match(line) for line in lines[heads[0] + 1 :])


def _tables(lines: list[str], begin: int, most: int) -> list[list[tuple[int, str]]]:
    """The rows of each table from a line on, with the numbers of their lines; a rule ends one."""
    tables: list[list[tuple[int, str]]] = [[]]
    for number, line in enumerate(lines[begin:], begin):
        if line.startswith("---"):
            if most == 1:
                break
            tables.append([])
        # "Conflicting CPU frequency values detected" comes in between.
        elif _ROW.fullmatch(line):
            tables[-1].append((number, line))
    return [rows for rows in tables if rows][:most]


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


def facts(parsed: Perftest) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "about": dict(parsed.about),
        "bandwidth": [asdict(row) for row in parsed.bandwidth],
        "latency": [asdict(row) for row in parsed.latency],
        "peer_bandwidth": [asdict(row) for row in parsed.peer_bandwidth],
        "peer_latency": [asdict(row) for row in parsed.peer_latency],
    }
