# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``dump_fts`` prints, and ``ibroute`` of one switch: by which port each switch forwards to each LID."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from .._ground.text import complaints, flat_lines, no_facts

_TOOL = "dump_fts"
NOTHING: dict[str, Any] = {"switches": [], "lids": {}, "error_lines": [], "unread": 0, "cut": False}

# `of switch Lid 4 guid`, `of switch DR path slid 0; dlid 0; 0,1,6,5 guid`.
_SWITCH = re.compile(
    r"Unicast lids \[0x[0-9a-f]{1,4}-0x[0-9a-f]{1,4}\] of switch .{1,300}? guid 0x([0-9a-fA-F]{1,16}) \((.{0,128})\):?"
)
_ROW = re.compile(
    r"0x([0-9a-fA-F]{1,4}) (\d{1,3})"
    r"(?: : \((?:(?:Channel Adapter|Switch|Router) portguid 0x([0-9a-fA-F]{1,16}):)?.{0,400})?"
)
_HEAD = ("Lid Out Destination", "Port Info")
_COUNT = re.compile(r"(\d{1,6}) (?:valid )?lids? dumped ?")


@dataclass(frozen=True)
class Table:
    """One switch. ``out``: from LID to the number of the port; port 0 is the switch itself."""

    guid: str
    name: str
    out: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DumpFts:
    """``tables``: of switches whose table is whole. ``lids``: of ports by GUID, the lowest, where the text tells it.
    ``cut``: the end of a switch's table is missing, which is left out."""

    tables: tuple[Table, ...]
    lids: Mapping[str, int]
    error_lines: tuple[str, ...] = ()
    unread: int = 0
    cut: bool = False


def parse(text: str) -> DumpFts:
    """Read every table; raise ParseError where there is none."""
    lines = flat_lines(text)
    tables: list[Table] = []
    lids: dict[str, int] = {}
    unread, cut, seen = 0, False, False
    guid, name = "", ""
    out: dict[int, int] = {}
    for line in filter(None, lines):
        title, row, count = _SWITCH.fullmatch(line), _ROW.fullmatch(line), _COUNT.fullmatch(line)
        if title is not None:
            cut = cut or bool(guid)
            guid, name, out, seen = _plain(title.group(1)), title.group(2), {}, True
        elif row is not None and guid:
            lid = int(row.group(1), 16)
            out[lid] = int(row.group(2))
            if row.group(3):
                port = _plain(row.group(3))
                lids[port] = min(lid, lids.get(port, lid))
        elif count is not None and guid:
            if int(count.group(1)) == len(out):
                tables.append(Table(guid, name, out))
            else:
                cut = True
            guid = ""
        elif line not in _HEAD:
            unread += 1
    errors = complaints(lines, warnings=not seen)
    if not seen:
        raise no_facts(_TOOL, lines, "no line 'Unicast lids ... of switch'", "empty output: no switch answered", errors)
    return DumpFts(tuple(tables), lids, errors, unread - len(errors), cut or bool(guid))


def facts(parsed: DumpFts) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    return {
        "switches": [
            {"guid": table.guid, "name": table.name, "lids": len(table.out), "out": dict(table.out)}
            for table in parsed.tables
        ],
        "lids": dict(parsed.lids),
        "error_lines": list(parsed.error_lines),
        "unread": max(0, parsed.unread),
        "cut": parsed.cut,
    }


def _plain(guid: str) -> str:
    """As all of the project writes a GUID: without what says that it is hexadecimal, and without zeros before it."""
    return guid.lower().lstrip("0")
