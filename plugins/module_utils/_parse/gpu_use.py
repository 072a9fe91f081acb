# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``nvidia-smi --query-gpu=... --format=csv,noheader,nounits``: how busy each GPU is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines

_TOOL = "gpu_use"
# What is asked for (_evidence.COMMANDS), in this order: percent, percent, MiB, MiB.
FIELDS = ("index", "utilization.gpu", "utilization.memory", "memory.used", "memory.total")
_NUMBER = re.compile(r"[0-9]{1,10}")
# What it says where a GPU has no such value. Others, like [Unknown Error], say that it could not
# look.
_NONE = re.compile(r"\[(?:N/A|Not Supported|Not Available)\]|N/A")


@dataclass(frozen=True)
class Use:
    """Percent of time busy and MiB of memory; None where this GPU does not tell."""

    index: int
    gpu_percent: int | None
    memory_percent: int | None
    memory_used_mib: int | None
    memory_total_mib: int | None


def parse(text: str) -> tuple[Use, ...]:
    """One GPU a line; raise ParseError on any other line, and where there is none."""
    found: dict[int, Use] = {}
    for line_no, line in enumerate(clean_lines(text), 1):
        if not line.strip():
            continue
        words = [word.strip() for word in line.split(",")]
        if len(words) != len(FIELDS) or _NUMBER.fullmatch(words[0]) is None:
            raise ParseError(_TOOL, line_no, line, f"not {len(FIELDS)} values of a GPU")
        index = int(words[0])
        if index in found:
            raise ParseError(_TOOL, line_no, line, "this GPU was there before")
        found[index] = Use(index, *(_value(line_no, line, word) for word in words[1:]))
    if not found:
        raise ParseError(_TOOL, 0, "", "no GPU")
    return tuple(found.values())


def _value(line_no: int, line: str, word: str) -> int | None:
    if _NUMBER.fullmatch(word):
        return int(word)
    if _NONE.fullmatch(word):
        return None
    raise ParseError(_TOOL, line_no, line, f"{word!r} is no number")
