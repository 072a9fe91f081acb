# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a number as C does (strtoll with base 0), which is how NCCL reads those of its settings."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?)(?:(0[xX][0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_INT64 = 2**63
# int() of a longer text costs time, and it is out of range anyway.
_MOST_DIGITS = 30


@dataclass(frozen=True)
class Number:
    """What strtoll reads with base 0: ``value`` None where it is out of range; and the rest."""

    value: int | None
    rest: str
    octal: bool = False


def number(text: str) -> Number:
    """Read a number as NCCL does; a text without one is 0, with all of the text left over."""
    found = _NUMBER.match(text)
    if found is None:
        return Number(0, text)
    sign, sixteen, eight, ten = found.groups()
    digits = (sixteen or eight or ten).lstrip("0xX")
    if len(digits) > _MOST_DIGITS:
        return Number(None, text[found.end() :])
    value = int(digits or "0", 16 if sixteen else 8 if eight else 10)
    value = -value if sign == "-" else value
    in_range = -_INT64 <= value < _INT64
    return Number(value if in_range else None, text[found.end() :], bool(eight) and eight != "0")
