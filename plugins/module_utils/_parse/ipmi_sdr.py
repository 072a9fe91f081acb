# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``ipmitool sdr elist``: the sensors of a BMC, as Dell's, HPE's and Supermicro's tell them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, flat_lines, is_whole, no_facts

_TOOL = "ipmi_sdr"
# NAME | NUMBER | STATUS | ENTITY | READING
_ROW = re.compile(r"([^|]{0,40}?) ?\| ([0-9A-Fa-f]{1,4})h \| ([a-z]{2,3}) \| (\d{1,3}\.\d{1,3}) \| ?(.*)")
_DEGREES = re.compile(r"(-?\d{1,5}(?:\.\d{1,4})?) degrees C")
# What the specification numbers as power supply and as fan or cooling unit (entity ids, table 43-13).
POWER, COOLING = (10, 19, 21), (29, 30)


@dataclass(frozen=True)
class Sensor:
    """``number``: as events name it. ``status``: ok, ns (no reading), or beyond a threshold: lnc, unc
    (not critical, below the lower or above the upper), lcr, ucr (critical), lnr, unr (not recoverable);
    source: ipmitool's lib/ipmi_sdr.c. ``reading``: a value, or states."""

    name: str
    number: int
    status: str
    entity: int
    reading: str

    @property
    def degrees(self) -> float | None:
        """Degrees C; None where it is no temperature."""
        found = _DEGREES.fullmatch(self.reading)
        return float(found.group(1)) if found else None


def parse(text: str) -> tuple[Sensor, ...]:
    """Read the sensors; raise ParseError where a line is none, or the last was cut."""
    lines = flat_lines(text)
    rows = [(line_no, line) for line_no, line in enumerate(lines, 1) if line]
    if not rows:
        raise no_facts(_TOOL, lines, "no sensor")
    if not is_whole(text):
        raise ParseError(_TOOL, len(lines), lines[-1], "the output ends within a line")
    found = []
    for line_no, line in rows:
        match = _ROW.fullmatch(line)
        if match is None:
            raise ParseError(_TOOL, line_no, line, "not a sensor's row")
        name, number, status, entity, reading = match.groups()
        found.append(Sensor(name, int(number, 16), status, int(entity.partition(".")[0]), reading))
    return tuple(found)
