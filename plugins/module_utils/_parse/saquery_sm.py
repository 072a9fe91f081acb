# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``saquery SMInfoRecord`` prints: every subnet manager that the master knows."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines, to_int
from ._fabric import Strange, errors_only, tool_errors

_TOOL = "saquery_sm"
NOTHING: dict[str, Any] = {"managers": []}
_RECORD = "SMInfoRecord dump:"
_FIELD = re.compile(r"([A-Za-z_]{1,30})\.{2,40} ?(\S{1,40})")
_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")
_WANTED = ("LID", "GUID", "ActCount", "Priority", "SMState")
STATES = ("not active", "discovering", "standby", "master")
STANDBY = 2
MASTER = 3


@dataclass(frozen=True)
class Manager:
    """One subnet manager; ``guid`` of its port, ``state`` an index of STATES."""

    lid: int
    guid: str
    activity: int
    priority: int
    state: int


@dataclass(frozen=True)
class SaquerySm:
    """All of them; or none, and what the tool complained of."""

    managers: tuple[Manager, ...]
    error_lines: tuple[str, ...] = ()


def parse(text: str) -> SaquerySm:
    """Read the records; raise ParseError where there is neither one nor an error."""
    lines = flat_lines(text)
    starts = [line_no for line_no, line in enumerate(lines, 1) if line == _RECORD]
    if not starts:
        return SaquerySm((), errors_only(_TOOL, lines, "no record"))
    ends = [*starts[1:], len(lines) + 1]
    managers: list[Manager] = []
    strange = Strange()
    for start, end in zip(starts, ends):
        try:
            managers.append(_manager(lines, start, end))
        except ParseError as exc:
            strange.leave(exc)
    left = strange.told(len(managers))
    return SaquerySm(tuple(managers), (*left, *tool_errors(lines, warnings=False)))


def _manager(lines: list[str], start: int, end: int) -> Manager:
    found: dict[str, str] = {}
    for line in lines[start : end - 1]:
        field = _FIELD.fullmatch(line)
        if field is not None:
            found.setdefault(field.group(1), field.group(2))
    missing = [name for name in _WANTED if name not in found]
    if missing:
        raise ParseError(_TOOL, start, lines[start - 1], f"no {missing[0]} in this record: cut?")
    try:
        numbers = {name: to_int(found[name]) for name in _WANTED if name != "GUID"}
    except ValueError as exc:
        raise ParseError(_TOOL, start, lines[start - 1], "a field is not a number") from exc
    if numbers["SMState"] >= len(STATES) or not _GUID.fullmatch(found["GUID"]):
        raise ParseError(_TOOL, start, lines[start - 1], "no GUID, or a state that does not exist")
    return Manager(numbers["LID"], found["GUID"].lower(), numbers["ActCount"], numbers["Priority"], numbers["SMState"])


def facts(parsed: SaquerySm) -> dict[str, Any]:
    """The facts as JSON-ready values; ``error`` only where the tool could not look."""
    found: dict[str, Any] = {
        "managers": [asdict(manager) for manager in parsed.managers],
        "error_lines": list(parsed.error_lines),
    }
    if not parsed.managers:
        found["error"] = True
    return found
