# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a table of steps with a head: ``rank,step,seconds``, in any order, parted by commas, tabs or semicolons.
Lines of JSON with the same names are one, too.

More columns may name the host and the parts of a step. A name may end with its unit: ``step_ms``, ``compute (us)``;
a part without one has the unit of the step's time. A time that only grows is a clock; steps are its differences.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence

from .._ground.text import ParseError, clean_lines, ends_early, no_facts
from . import _step_table, _times
from ._times import Step, Times

_TOOL = "step_csv"
NOTHING: dict[str, Any] = {"steps": [], "unread": 0}
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-9),
}
_STEP = frozenset(("step", "steps", "iteration", "iter", "global_step", "batch"))
_RANK = frozenset(("rank", "global_rank"))
_HOST = frozenset(("host", "hostname", "node", "host_name", "node_name"))
# Without a unit these are the step's time as well; a name of _STEP only is with one.
_TIME = frozenset(("", "time", "step_time", "iteration_time", "iter_time", "duration", "elapsed", "elapsed_time"))
_PARTS = {
    **dict.fromkeys(("compute", "computation", "forward_backward"), _times.COMPUTE),
    **dict.fromkeys(("communication", "comm", "allreduce", "all_reduce", "sync"), _times.COMMUNICATION),
    **dict.fromkeys(("input", "data", "dataloader", "data_loading", "data_time", "loader"), _times.INPUT),
    **dict.fromkeys(("optimizer", "optim", "optimizer_step"), _times.OPTIMIZER),
    **dict.fromkeys(("checkpoint", "checkpointing", "save"), _times.CHECKPOINT),
    "idle": _times.IDLE,
}
_WORD = re.compile(r"[a-z0-9]{1,40}")
_INTEGER = re.compile(r"[0-9]{1,12}")
_NUMBER = re.compile(r"(?:[0-9]{1,15}(?:\.[0-9]{0,17})?|\.[0-9]{1,17})(?:[eE][+-]?[0-9]{1,2})?")
_NAME = re.compile(r"[\w.:-]{1,255}")
_MOST_COLUMNS = 64
_TIME_ROLE, _STEP_ROLE, _RANK_ROLE, _HOST_ROLE, _EPOCH_ROLE = "time", "step", "rank", "host", "epoch"

_OF_STEP = {_STEP_ROLE, _TIME_ROLE}


@dataclass(frozen=True)
class Row:
    """One step of one rank. ``parts``: seconds by words of _times.PARTS. ``epoch``: -1 where not told."""

    step: int
    seconds: float
    rank: str = ""
    host: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    epoch: int = -1


@dataclass(frozen=True)
class StepCsv:
    """``unread``: rows that have other columns than the head, or no number where one belongs."""

    rows: tuple[Row, ...]
    unread: int = 0


def parse(text: str) -> StepCsv:
    """Every row that can be read; ParseError where no head names a step and its time."""
    lines = [line.strip() for line in clean_lines(text)]
    told = [(at, line) for at, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not told:
        raise no_facts(_TOOL, lines, "no head that names a step and its time")
    number, head = told[0]
    if head.startswith("{"):
        names, cells = _of_json(line for _at, line in told)
    else:
        mark = max(",\t;", key=head.count)
        names, cells = head.split(mark), [line.split(mark) for _at, line in told[1:]]
    roles = _roles(number, head, names)
    rows = [_row(roles, words) for words in cells]
    if ends_early(text) and len(rows) > 1:
        # The last number may go on.
        rows[-1] = None
    read = tuple(row for row in rows if row is not None)
    if not read:
        raise ParseError(_TOOL, number, head, "no row of numbers below its head")
    return StepCsv(read, len(rows) - len(read))


def _of_json(lines: Iterable[str]) -> tuple[list[str], list[list[str]]]:
    """The names of the first line that tells of a step as a head, and each such line's values, "" for what it lacks.

    Other records, of settings or losses, stand among them; a line that is no record is a row without values.
    """
    found = [_object(line) for line in lines]
    steps = [told for told in found if told is None or {_role(name)[0] for name in told} >= _OF_STEP]
    names = list(next((told for told in (*steps, *found) if told), {}))
    return names, [[(told or {}).get(name, "") for name in names] for told in steps]


def _object(line: str) -> dict[str, str] | None:
    """The plain values of a record, as texts; None of a line that is none."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    return {name: f"{value}" for name, value in told.items() if isinstance(value, (int, float, str))}


def _roles(number: int, head: str, names: Sequence[str]) -> list[tuple[str, float]]:
    """Of each column what it is, and what makes seconds of its numbers; "" for a column of no use."""
    if len(names) > _MOST_COLUMNS:
        raise ParseError(_TOOL, number, head, "too many columns")
    found: list[tuple[str, float | None]] = [_role(name) for name in names]
    roles = [role for role, _scale in found if role not in ("", _EPOCH_ROLE)]
    if _STEP_ROLE not in roles or _TIME_ROLE not in roles:
        raise ParseError(_TOOL, number, head, "no head that names a step and its time")
    if len(set(roles)) != len(roles):
        raise ParseError(_TOOL, number, head, "two columns of one kind")
    usual = next(scale for role, scale in found if role == _TIME_ROLE) or 1.0
    return [(role, usual if scale is None else scale) for role, scale in found]


def _role(name: str) -> tuple[str, float | None]:
    words = _WORD.findall(name.lower())
    scale = _UNITS.get(words[-1]) if words else None
    stem = "_".join(words if scale is None else words[:-1])
    if scale is None and (stem in _STEP or stem in _RANK or stem in _HOST):
        return (_STEP_ROLE if stem in _STEP else _RANK_ROLE if stem in _RANK else _HOST_ROLE), None
    if scale is None and stem == "epoch":
        return _EPOCH_ROLE, None
    if words and (stem in _TIME or (scale is not None and stem in _STEP)):
        return _TIME_ROLE, scale
    if scale is not None and stem == "host":
        return _times.HOST + " part", scale
    return _PARTS.get(stem, ""), scale


def _row(roles: list[tuple[str, float]], words: list[str]) -> Row | None:
    if len(words) != len(roles):
        return None
    step = seconds = None
    epoch = -1
    named = {_RANK_ROLE: "", _HOST_ROLE: ""}
    parts: dict[str, float] = {}
    for (role, scale), raw in zip(roles, words):
        word = raw.strip().strip('"')
        if role == _STEP_ROLE:
            step = int(word) if _INTEGER.fullmatch(word) else None
        elif role == _EPOCH_ROLE:
            epoch = int(word) if _INTEGER.fullmatch(word) else -1
        elif role in named:
            if word and not _NAME.fullmatch(word):
                return None
            named[role] = word
        elif role:
            if not _NUMBER.fullmatch(word):
                if role == _TIME_ROLE or word:
                    return None
                continue
            value = float(word) * scale
            if role == _TIME_ROLE:
                seconds = value
            else:
                parts[role.partition(" ")[0]] = value
    if step is None or seconds is None:
        return None
    return Row(step, seconds, named[_RANK_ROLE], named[_HOST_ROLE], parts, epoch)


def facts(parsed: StepCsv) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    steps = [
        {
            "step": row.step,
            "seconds": row.seconds,
            "rank": row.rank or None,
            "host": row.host or None,
            "parts": dict(row.parts),
        }
        for row in parsed.rows
    ]
    return {"steps": steps, "unread": parsed.unread}


def times(parsed: StepCsv) -> Times:
    """Every row as a step, numbered on from epoch to epoch, of a clock what lies between two rows of a rank."""
    rows = [(row.rank, row.epoch, row.step, row.seconds) for row in parsed.rows]
    told = zip(parsed.rows, _step_table.numbered(rows))
    return Times(
        tuple(Step(step, took, row.rank, row.host, row.parts) for row, (step, took) in told if took is not None)
    )
