# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``ipmitool sel list`` and ``sel elist``: the event log of a BMC."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from .._ground.text import ParseError, flat_lines, is_whole, no_facts

_TOOL = "ipmi_sel"
EMPTY = "SEL has no entries"
_ID = re.compile(r"[0-9A-Fa-f]{1,5}")
_DATE = re.compile(r"(\d\d)/(\d\d)/(\d{2}|\d{4})")
_SENSOR = re.compile(r"(.{1,60}?)(?: #0x([0-9A-Fa-f]{1,4}))?")


@dataclass(frozen=True)
class Event:
    """``day``: ISO date by the BMC's clock, "" before that clock was set. ``sensor``: its kind, with
    its name in an extended list. ``number``: the sensor's, None where it is not told. ``asserted``:
    False where the event says that it is over, None where it does not say."""

    day: str
    sensor: str
    number: int | None
    what: str
    asserted: bool | None


def parse(text: str) -> tuple[Event, ...]:
    """Read the events in their order; raise ParseError where a line is none, or the last was cut."""
    lines = flat_lines(text)
    if lines == [EMPTY]:
        return ()
    rows = [(line_no, line) for line_no, line in enumerate(lines, 1) if line]
    if not rows:
        raise no_facts(_TOOL, lines, "no event")
    if not is_whole(text):
        raise ParseError(_TOOL, len(lines), lines[-1], "the output ends within a line")
    return tuple(_event(line_no, line) for line_no, line in rows)


def _event(line_no: int, line: str) -> Event:
    words = [word.strip() for word in line.split("|")]
    if len(words) < 4 or _ID.fullmatch(words[0]) is None:
        raise ParseError(_TOOL, line_no, line, "not an event's row")
    sensor, rest = words[3], words[4:]
    if len(words) == 4:  # an OEM record: what it says is its maker's alone
        return Event(_day(words[1]), "", None, sensor, None)
    asserted = None
    ends = {"Asserted": True, "Deasserted": False}
    for at, word in enumerate(rest):
        # Behind it the list may tell of a reading.
        if word in ends:
            asserted, rest = ends[word], rest[:at]
            break
    match = _SENSOR.fullmatch(sensor)
    name, number = match.groups() if match else (sensor, None)
    return Event(_day(words[1]), name, int(number, 16) if number else None, " | ".join(rest), asserted)


def _day(word: str) -> str:
    match = _DATE.fullmatch(word)
    if match is None:
        return ""
    month, day, year = (int(part) for part in match.groups())
    try:
        return datetime.date(year + 2000 if year < 100 else year, month, day).isoformat()
    except ValueError:
        return ""
