# SPDX-License-Identifier: GPL-3.0-or-later
"""What a row of the table of floors means for the values of one host; no I/O."""

from __future__ import annotations

import re
from typing import Iterator, Mapping, Tuple

from ..._data.floors import COUNT, CPUS, QUOTA, SPAN, Floor
from ..._ground.reading import Reading
from ..._parse import cpu_list
from ..._parse.proc_limits import UNLIMITED

_PART = re.compile(r"\{([a-z]+)\}")
_CHOSEN = re.compile(r"\[(\w+)\]")
_NUMBER = re.compile(r"[0-9]{1,20}")
_NO_LIMIT = ("max", "unlimited", "infinity", "-1")

Values = Mapping[str, Reading[str]]
Parts = Mapping[str, Reading[Tuple[str, ...]]]


def kind(row: Floor) -> str:
    """What the row is repeated for; "" for the host itself."""
    found = _PART.search(row.reads)
    return found.group(1) if found else ""


def each(row: Floor, parts: Parts) -> Iterator[tuple[str, str]]:
    """The parts that a row is of ("" for the host itself), and what it reads of each."""
    one = kind(row)
    for part in (parts[one].value or ()) if one else ("",):
        yield part, row.reads.replace(f"{{{one}}}", part)


def applies(row: Floor, values: Values) -> bool:
    """Whether the setting that makes this a floor is there; where nobody can tell it, it is none."""
    path, word = row.when
    return not path or values[path].value == word


def bound(row: Floor, values: Values) -> Reading[float]:
    """The lowest (or highest) number that is no fault."""
    factor = row.most if row.least is None else row.least
    if factor is None or not row.of:
        return Reading(factor)
    return values[row.of].map(lambda text: (factor or 0) * number(text, COUNT if row.of == CPUS else ""))


def number(text: str, take: str = "") -> float:
    """What the file's words amount to; ValueError where they are no such number."""
    if take == COUNT:
        return len(cpu_list.parse(text))
    words = text.split() or [""]
    if take == SPAN and len(words) == 2:
        return _one(words[1]) - _one(words[0]) + 1
    if take == QUOTA and len(words) == 2:
        return _one(words[0]) / max(1, _one(words[1])) if words[0] != _NO_LIMIT[0] else UNLIMITED
    return _one(words[-1])


def _one(word: str) -> float:
    if word in _NO_LIMIT:
        return UNLIMITED
    if _NUMBER.fullmatch(word) is None:
        raise ValueError(f"{word[:20]!r} is no number")
    return int(word)


def chosen(text: str) -> str:
    """The word in brackets, of a file that shows all choices."""
    found = _CHOSEN.search(text)
    return found.group(1) if found else text


def is_past(row: Floor, reads: str, values: Values) -> bool:
    """Whether this value is a fault; False where nobody can tell. ValueError for what is no number, or no word."""
    text, limit = values[reads].value, bound(row, values).value
    if text is None or not applies(row, values):
        return False
    if row.bad and not text:
        raise ValueError("the file is empty")
    if row.bad:
        return chosen(text) in row.bad
    if limit is None:
        return False
    found = number(text, row.take)
    return found < limit if row.least is not None else found > limit
