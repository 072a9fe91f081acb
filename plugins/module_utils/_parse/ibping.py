# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibping`` prints. Its exit status tells nothing: 0 with every packet lost."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, complaints, flat_lines

_TOOL = "ibping"
NOTHING: dict[str, Any] = {"pong_lines": 0, "n": 0, "error_lines": []}
_HEADER = "ibping statistics ---"
_COUNTS_MARK = " packets transmitted,"
_COUNTS = re.compile(
    r"([0-9]{1,10}) packets transmitted, ([0-9]{1,10}) received, "
    r"([0-9]{1,3}(?:\.[0-9]{1,6})?)% packet loss, time ([0-9]{1,12}) ?ms"
)
_RTT_MARK = "rtt min/avg/max"
_MS = r"([0-9]{1,10}(?:\.[0-9]{1,6})?)"
_RTT = re.compile(rf"rtt min/avg/max = {_MS}/{_MS}/{_MS} ?ms")


@dataclass(frozen=True)
class Rtt:
    """Round trip times in milliseconds."""

    min: float
    avg: float
    max: float


@dataclass(frozen=True)
class Ibping:
    """The statistics block of one run; `rtt_ms` is all zero when nothing was received."""

    target_host: str
    target_path: str
    sent: int
    received: int
    loss_pct: float
    time_ms: int
    rtt_ms: Rtt | None
    pong_lines: int
    error_lines: tuple[str, ...]


class NoStatistics(ParseError):
    """A run without its statistics block: killed, or it never began; the pongs were counted."""

    pong_lines = 0


def parse(text: str) -> Ibping:
    """Read the output of ``ibping``; without a sound statistics block raise ParseError.

    The loss is the one printed. It may lag the counts by one packet, the one that was under way
    when the run was interrupted.
    """
    lines = flat_lines(text)
    pongs = sum(line.startswith("Pong from ") for line in lines)
    errors = complaints(lines, warnings=True)
    header = _only(lines, _HEADER)
    counts = _only(lines, _COUNTS_MARK)
    if header is None or counts is None:
        raise _no_statistics(lines, pongs, errors)
    host, path = _target(*header)
    sent, received, loss, time_ms = _counts(*counts)
    rtt = _only(lines, _RTT_MARK)
    return Ibping(
        target_host=host,
        target_path=path,
        sent=sent,
        received=received,
        loss_pct=loss,
        time_ms=time_ms,
        rtt_ms=None if rtt is None else _rtt(*rtt),
        pong_lines=pongs,
        error_lines=errors,
    )


def facts(parsed: Ibping) -> dict[str, Any]:
    """The facts as JSON-ready values."""
    found = asdict(parsed)
    found["error_lines"] = list(parsed.error_lines)
    return found


def nothing(error: ParseError) -> dict[str, Any]:
    """What is still known of a text that gave no statistics."""
    return {**NOTHING, "pong_lines": getattr(error, "pong_lines", 0)}


def _only(lines: list[str], mark: str) -> tuple[int, str] | None:
    """Find the line that holds `mark`; a second one that differs belongs to another run."""
    found: tuple[int, str] | None = None
    for line_no, line in enumerate(lines, 1):
        if mark in line:
            if found is not None and found[1] != line:
                raise ParseError(_TOOL, line_no, line, f"contradicts line {found[0]}")
            found = found or (line_no, line)
    return found


def _no_statistics(lines: list[str], pongs: int, errors: tuple[str, ...]) -> ParseError:
    if not any(lines):
        return NoStatistics(_TOOL, 0, "", "empty output: no statistics block, 0 pongs seen")
    reported = errors[-1] if errors else next(line for line in reversed(lines) if line)
    reason = f"no statistics block, {pongs} pongs seen"
    if errors:
        reason += "; ibping stopped with this error"
    error = NoStatistics(_TOOL, lines.index(reported) + 1, reported, reason, errors)
    error.pong_lines = pongs
    return error


def _target(line_no: int, line: str) -> tuple[str, str]:
    """Split ``--- node7.(none) (Lid 5) ibping statistics ---`` into host and path."""
    host, bracket, path = line.rpartition(" (")
    end = ") " + _HEADER
    if not bracket or not line.startswith("---") or not path.endswith(end):
        raise ParseError(_TOOL, line_no, line, "not '--- HOST (PATH) ibping statistics ---'")
    return host[3:].strip(), path[: -len(end)]


def _counts(line_no: int, line: str) -> tuple[int, int, float, int]:
    match = _COUNTS.fullmatch(line)
    if match is None:
        raise ParseError(_TOOL, line_no, line, "not 'N packets transmitted, N received, N% packet loss, time N'")
    sent, received = int(match.group(1)), int(match.group(2))
    loss = float(match.group(3))
    if not _loss_fits(sent, received, loss):
        raise ParseError(_TOOL, line_no, line, "the loss does not follow from the counts")
    return sent, received, loss, int(match.group(4))


def _loss_fits(sent: int, received: int, loss: float) -> bool:
    """Check the printed loss; ibping rounds it down and leaves out a packet still under way."""
    if sent == 0 or received > sent:
        return False
    lost = sent - received
    fits = abs(loss - 100 * lost / sent) < 1
    return fits or (received > 0 and abs(loss - 100 * (lost - 1) / sent) < 1)


def _rtt(line_no: int, line: str) -> Rtt:
    match = _RTT.fullmatch(line)
    if match is None:
        raise ParseError(_TOOL, line_no, line, "not 'rtt min/avg/max = N/N/N ms'")
    return Rtt(*(float(value) for value in match.groups()))
