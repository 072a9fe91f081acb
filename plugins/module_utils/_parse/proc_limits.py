# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse /proc/PID/limits, and systemd's words for the same."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .._ground.text import ParseError, flat_lines

# What "unlimited" and "infinity" stand for, the kernel's own number for it.
UNLIMITED = 2**64 - 1
_MEMLOCK = re.compile(r"Max locked memory (\S{1,20}) (\S{1,20})")
_NOFILE = re.compile(r"Max open files (\S{1,20}) (\S{1,20})")
_ANY = re.compile(r"Max ([a-z ]{1,40}) (unlimited|[0-9]{1,20}) (?:unlimited|[0-9]{1,20})(?: [a-z]{1,20})?")
_NUMBER = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True)
class Limits:
    """Soft and hard limits: bytes that may be locked, files that may be open. ``soft``: of every line, by its name."""

    memlock_soft: int
    memlock_hard: int
    nofile_soft: int
    nofile_hard: int
    soft: dict[str, int] = field(default_factory=dict, compare=False)


def parse(text: str) -> Limits:
    """Read the limits of a process; raise ParseError where one of the two is missing."""
    lines = flat_lines(text)
    memlock = _line(lines, _MEMLOCK, "Max locked memory")
    nofile = _line(lines, _NOFILE, "Max open files")
    soft = {match.group(1): number(match.group(2)) for match in filter(None, map(_ANY.fullmatch, lines))}
    return Limits(*memlock, *nofile, soft)


def number(text: str) -> int:
    """Turn ``unlimited``, ``infinity`` or a number into a number; else ValueError."""
    if text in ("unlimited", "infinity"):
        return UNLIMITED
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(f"{text[:20]!r} is not a limit")
    return int(text)


def _line(lines: list[str], pattern: re.Pattern[str], name: str) -> tuple[int, int]:
    for line_no, line in enumerate(lines, 1):
        match = pattern.match(line)
        if match is None:
            continue
        try:
            return number(match.group(1)), number(match.group(2))
        except ValueError as exc:
            raise ParseError("limits", line_no, line, str(exc)) from exc
    raise ParseError("limits", 0, "", f"no line {name!r}")
