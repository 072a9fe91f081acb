# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``mlnx_qos -i INTERFACE`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines, no_facts

_TOOL = "mlnx_qos"
NOTHING: dict[str, Any] = {"trust": None, "pfc": None, "dscp": {}}
_TRUST = re.compile(r"(?:Priority )?trust state: ?([a-z]{1,10})", re.IGNORECASE)
_MAPPING = re.compile(r"prio: ?([0-7]) dscp: ?([0-9, ]{1,400})")
_FLAGS = ("0", "1")
_PRIORITIES = 8
_CLASS = re.compile(r"priority: ?([0-7])")


@dataclass(frozen=True)
class Qos:
    """``trust``: dscp, pcp or none, "" where it was not shown. ``pfc``: the priorities with flow
    control, None where that was not shown. ``priority``: the priority of each DSCP, () without.
    ``cut``: the traffic classes, which stand behind all of these, are not all there."""

    trust: str
    pfc: tuple[int, ...] | None
    priority: tuple[tuple[int, int], ...]
    cut: bool = False


def parse(text: str) -> Qos:
    """Read the output; raise ParseError where it shows neither trust nor flow control."""
    lines = flat_lines(text)
    trust = ""
    pfc: tuple[int, ...] | None = None
    priority: dict[int, int] = {}
    listed: set[str] = set()
    for line_no, line in enumerate(lines, 1):
        match = _TRUST.fullmatch(line)
        if match is not None:
            trust = match.group(1).lower()
        elif line.startswith("enabled"):
            pfc = _enabled(line_no, line)
        elif _CLASS.fullmatch(line):
            listed.add(line[-1])
        else:
            _take_mapping(line_no, line, priority)
    if not trust and pfc is None:
        raise no_facts(_TOOL, lines, "no trust state and no 'enabled' from here to the end")
    # It ends with the traffic classes, and every priority belongs to one. Before them stand first the trust, then
    # flow control: of a text that has both nothing is lost but the classes.
    cut = len(listed) < _PRIORITIES
    if cut and (not trust or pfc is None):
        raise ParseError(_TOOL, len(lines), lines[-1], "the output ends here, cut off")
    return Qos(trust, pfc, tuple(sorted(priority.items())), cut)


def _enabled(line_no: int, line: str) -> tuple[int, ...]:
    flags = line[len("enabled") :].replace(":", " ").split()
    if len(flags) != _PRIORITIES or any(flag not in _FLAGS for flag in flags):
        raise ParseError(_TOOL, line_no, line, "not 'enabled' and eight times 0 or 1")
    return tuple(at for at, flag in enumerate(flags) if flag == "1")


def _take_mapping(line_no: int, line: str, priority: dict[int, int]) -> None:
    match = _MAPPING.fullmatch(line)
    if match is None and line.startswith("prio:"):
        raise ParseError(_TOOL, line_no, line, "not 'prio:N dscp:N,N'")
    if match is None:
        return
    for word in match.group(2).replace(",", " ").split():
        if len(word) > 2 or int(word) > 63:
            raise ParseError(_TOOL, line_no, line, f"{word} is no DSCP")
        priority[int(word)] = int(match.group(1))


def facts(parsed: Qos) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {
        "trust": parsed.trust or None,
        "pfc": None if parsed.pfc is None else list(parsed.pfc),
        "dscp": {str(dscp): priority for dscp, priority in parsed.priority},
    }
    if parsed.cut:
        found["cut"] = True
    return found
