# SPDX-License-Identifier: GPL-3.0-or-later
"""Read JSON that ibready wrote: whatever no writer of ours makes is refused, and ends no caller."""

from __future__ import annotations

import json
import math
from typing import Any

# Far more than anything of ours has, and far less than any walk through it could not take.
_DEPTH = 64


def loads(text: str) -> Any:
    """As json.loads; ValueError also for a key that is there twice, NaN and the like, and depth."""
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deep") from None
    level = [found]
    for _turn in range(_DEPTH):
        level = [
            inner
            for entry in level
            if isinstance(entry, (dict, list))
            for inner in (entry.values() if isinstance(entry, dict) else entry)
        ]
    if level:
        raise ValueError("nested too deep")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one key twice")
    return found


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number
