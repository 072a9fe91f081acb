# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``mstreg -d DEVICE --reg_name NAME --get`` prints (mstflint; mlxreg of NVIDIA's MFT prints the same): a
register of an HCA, a line a field."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Mapping

from .._ground.text import ParseError, flat_lines, no_facts

_TOOL = "mstreg"
_TITLE = re.compile(r"Field Name ?\| ?Data")
_RULE = re.compile(r"={10,}")
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_\[\]]{0,79}) ?\| ?(0x[0-9a-fA-F]{1,8})")


@dataclass(frozen=True)
class Register:
    """The number in each field."""

    fields: Mapping[str, int] = field(default_factory=dict)


def parse(text: str) -> Register:
    """Read the one table; ParseError where there is none, or where it is not closed."""
    lines = [line.strip() for line in flat_lines(text)]
    fields: dict[str, int] = {}
    rules, begun = 0, False
    for line_no, line in enumerate(lines, 1):
        if not begun:
            begun = _TITLE.fullmatch(line) is not None
        elif _RULE.fullmatch(line):
            rules += 1
        elif line and rules == 1:
            match = _LINE.fullmatch(line)
            if match is None:
                raise ParseError(_TOOL, line_no, line, "no field and its number")
            value = int(match.group(2), 16)
            if fields.setdefault(match.group(1), value) != value:
                raise ParseError(_TOOL, line_no, line, "another number of the same field")
    if not begun:
        said = tuple(line for line in lines if line.startswith("-E-"))
        raise no_facts(_TOOL, lines, "no register from here to the end", said=said)
    if rules < 2 or not fields:
        raise ParseError(_TOOL, len(lines), lines[-1], "the table ends before its last line")
    return Register(fields)
