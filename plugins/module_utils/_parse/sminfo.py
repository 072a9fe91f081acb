# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``sminfo`` prints."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from .._ground.text import ParseError, complaints, flat_lines, is_warning, no_facts, to_int

_TOOL = "sminfo"
NOTHING: dict[str, Any] = {"error_lines": []}
_START = "sminfo: sm lid "
# GUIDs come without leading zeros, and in published output masked with x. OFED 1.x prints the LID
# in hexadecimal, and its first releases no state.
_SMINFO = re.compile(
    r"sminfo: sm lid ([0-9a-fA-Fx]{1,10}) sm guid (0x[0-9a-fA-FxX*]{1,16}), "
    r"activity count ([0-9]{1,10}) priority ([0-9]{1,10})"
    r"(?: state ([0-9]{1,10}) (SMINFO_[A-Z]+|\?\?\?))?"
)
_STATE_NAMES = ("SMINFO_NOTACT", "SMINFO_DISCOVER", "SMINFO_STANDBY", "SMINFO_MASTER")


@dataclass(frozen=True)
class Sminfo:
    """The subnet manager that answered; `guid` as printed, `state_name` ``SMINFO_MASTER`` etc.

    ``state`` is None where the tool is too old to show one.
    """

    lid: int
    guid: str
    activity: int
    priority: int
    state: int | None = None
    state_name: str = ""


def parse(text: str) -> Sminfo:
    """Read the output of ``sminfo``; raise ParseError where no subnet manager answered."""
    lines = flat_lines(text)
    answers = [(line_no, _answer(lines, line_no)) for line_no, line in enumerate(lines, 1) if line.startswith(_START)]
    if not answers:
        raise _no_answer(lines)
    first = answers[0][1]
    for line_no, other in answers[1:]:
        if (other.lid, other.guid) != (first.lid, first.guid):
            raise ParseError(_TOOL, line_no, lines[line_no - 1], f"another SM than in line {answers[0][0]}")
    return answers[-1][1]


def facts(parsed: Sminfo) -> dict[str, Any]:
    """The facts as JSON-ready values; a state that was not shown is left out."""
    return {key: value for key, value in asdict(parsed).items() if value not in (None, "")}


def _answer(lines: list[str], line_no: int) -> Sminfo:
    line = lines[line_no - 1]
    # A mail client wraps the line, a warning may cut into it: at most two more lines belong to it.
    rest = [more for more in lines[line_no : line_no + 4] if more and not is_warning(more)]
    match = _SMINFO.match(" ".join([line, *rest[:2]]))
    # Without a state, and not of the releases that show none, the line was cut.
    if match is None or (match.group(5) is None and not match.group(1).startswith("0x")):
        raise ParseError(_TOOL, line_no, line, "not 'sm lid N sm guid 0xN, activity count N priority N state N'")
    try:
        lid = to_int(match.group(1))
    except ValueError as exc:
        raise ParseError(_TOOL, line_no, line, "the LID is not a number") from exc
    answer = Sminfo(lid, match.group(2), int(match.group(3)), int(match.group(4)))
    if match.group(5) is None:
        return answer
    state, name = int(match.group(5)), match.group(6)
    known = _STATE_NAMES[state] if state < len(_STATE_NAMES) else "???"
    if name != known:
        raise ParseError(_TOOL, line_no, line, f"state {state} is {known}, not {name}")
    return replace(answer, state=state, state_name=name)


def _no_answer(lines: list[str]) -> ParseError:
    errors = complaints(lines, warnings=True)
    if errors:
        reported = errors[-1]
        return ParseError(_TOOL, lines.index(reported) + 1, reported, "no subnet manager answered", errors)
    reason = "no 'sminfo: sm lid' line from here to the end"
    return no_facts(_TOOL, lines, reason, "empty output: no subnet manager named")
