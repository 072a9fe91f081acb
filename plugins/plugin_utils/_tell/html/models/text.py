# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign text and long lists, cut to what a section has room for. Escaping is the template's."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

# Characters of one text, and names of one list.
LONGEST = 160
NAMED = 6
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

T = TypeVar("T")


class Names(NamedTuple):
    """The first of some names, and how many there are beside them."""

    shown: tuple[str, ...] = ()
    more: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return len(self.shown) + self.more


def brief(value: object, most: int = LONGEST) -> str:
    """The text on one line, its end left out where it is longer."""
    said = str(value)
    reported = " ".join(said[: 2 * most].split())
    return reported if len(reported) <= most else f"{reported[: most - 1]}{ELLIPSIS}"


def names(some: Iterable[str], most: int = NAMED) -> Names:
    """The first of these names."""
    every = list(some)
    return Names(tuple(every[:most]), max(0, len(every) - most))


def number(value: Any) -> float | None:
    """A number as JSON has it; None for all else, true and false among it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e21 else None


def cut(rows: Sequence[T], most: int) -> tuple[list[T], int]:
    """The first rows, and how many are left out."""
    return list(rows[:most]), max(0, len(rows) - most)


def moment(created: str) -> str:
    """When a run was judged, for whom no script tells the local time; as it is told where no zone is."""
    try:
        found = datetime.datetime.fromisoformat(created)
        return f"{found.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC" if found.tzinfo else brief(created)
    except (OverflowError, ValueError):
        return brief(created)
