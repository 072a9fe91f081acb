# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``mstconfig -d DEVICE -e query`` prints (mstflint; mlxconfig of NVIDIA's MFT prints the same): what the
firmware of an HCA is configured to, now and from the next reset on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Mapping

from .._ground.text import ParseError, ends_early, flat_lines, no_facts

_TOOL = "mstconfig"
# Before the columns; they end in Next Boot, and a tool that is asked without -e has no other.
_TITLE = "Configurations:"
_COLUMNS = re.compile(r"Default|Current|Next Boot")
# '*' stands before what differs, RO before what nobody may write.
_LINE = re.compile(r"(?:[*] )?(?:RO )?(?:[*] )?([A-Z][A-Z0-9_]{1,63}(?:\[[0-9.]{1,12}\])?) (.+)")
_NUMBER = re.compile(r"(?P<word>[^ ()]{1,80}\()?(?P<digits>0x[0-9a-fA-F]{1,16}|[0-9]{1,19})(?(word)\))")


@dataclass(frozen=True)
class Value:
    """``now`` and ``next``: the numbers that hold now and from the next reset on; None where none is shown.
    ``word``: what is shown of now."""

    now: int | None = None
    next: int | None = None
    word: str = ""


@dataclass(frozen=True)
class Config:
    """The parameters of one HCA, by their names."""

    parameters: Mapping[str, Value] = field(default_factory=dict)


def parse(text: str) -> Config:
    """Read the first device; ParseError where there is none, or none of its parameters."""
    lines = [line.strip() for line in flat_lines(text)]
    # A line that was cut may end within a number.
    lines = lines[:-1] if ends_early(text) else lines
    device = False
    columns: list[str] = []
    parameters: dict[str, Value] = {}
    for line_no, line in enumerate(lines, 1):
        if not columns:
            device = device or line.startswith("Device: ")
            columns = _COLUMNS.findall(line) if line.startswith(_TITLE) else []
        elif line.startswith("Device #"):
            raise ParseError(_TOOL, line_no, line, "a second device: only one is asked for")
        else:
            match = _LINE.fullmatch(line)
            if match is not None:
                name, value = match.group(1), _value(match.group(2).split(), columns)
                if parameters.setdefault(name, value) != value:
                    raise ParseError(_TOOL, line_no, line, "another value of the same parameter")
    if not parameters or not device:
        said = tuple(line for line in lines if line.startswith("-E-"))
        raise no_facts(_TOOL, lines, "no configuration of a device", said=said)
    return Config(parameters)


def _value(words: list[str], columns: list[str]) -> Value:
    if len(words) != len(columns):
        return Value()
    shown = dict(zip(columns, words))
    now = shown.get("Current", "")
    return Value(_number(now), _number(shown.get("Next Boot", "")), now)


def _number(word: str) -> int | None:
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    digits = match.group("digits")
    return int(digits, 16 if digits.startswith("0x") else 10)
