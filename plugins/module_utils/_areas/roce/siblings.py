# SPDX-License-Identifier: GPL-3.0-or-later
"""What most rails of a host have alike, which tells what is right where nobody says it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Sequence

from ..._expect.expectations import Expected
from ..._ground.equals import NO_MAJORITY, most_have
from ..._ground.text import few
from ..._rails.roce_ports import RocePort

_SHOWN = 4


def usual(rails: Sequence[RocePort], value: Callable[[RocePort], Any]) -> Expected | None:
    """What more than half of the rails have, of those that tell it (a value that is not None)."""
    told = _told(rails, value)
    most = most_have(told)
    return Expected(most[0], f"equals {most[1]}/{len(told)}") if most is not None else None


def split(rails: Sequence[RocePort], value: Callable[[RocePort], Any]) -> str:
    """Why nobody can tell which of the rails is right, "" where they are alike or most of them are."""
    told = _told(rails, value)
    if len(set(told)) < 2 or most_have(told) is not None:
        return ""
    counted = [f"{_words(found)} on {times}" for found, times in Counter(told).most_common()]
    return f"the rails differ, and there is {NO_MAJORITY}{few(counted, _SHOWN)}"


def _told(rails: Sequence[RocePort], value: Callable[[RocePort], Any]) -> list[Any]:
    return [found for found in map(value, rails) if found is not None]


def _words(found: Any) -> str:
    return (" ".join(map(str, found)) or "none") if isinstance(found, tuple) else str(found)
