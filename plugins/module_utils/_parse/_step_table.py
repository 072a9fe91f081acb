# SPDX-License-Identifier: GPL-3.0-or-later
"""What a table of steps means: steps that begin again with each epoch, and a clock in place of lengths. No I/O."""

from __future__ import annotations

from statistics import median
from typing import Optional, Sequence, Tuple

# rank, epoch (-1 where not told), step, seconds
Told = Tuple[str, int, int, float]
Read = Tuple[int, Optional[float]]

# Lengths of steps do not grow in each of so many rows, nor to so many times the first of few rows.
_LEAST, _MANY = 6, 20
_TIMES, _OF_ROWS, _OF_MANY = 4.0, 3, 1.5
# Nor by nearly the same each time, which is more than this of them.
_OF_FIRST = 0.005


def numbered(rows: Sequence[Told]) -> list[Read]:
    """Of each row its step, which no other epoch has too, and its seconds; None for the first that a clock shows."""
    laps = _laps(rows)
    steps = [step for _rank, _epoch, step, _seconds in rows]
    span = max(steps, default=0) - min(steps, default=0) + 1
    steps = [lap * span + step for lap, step in zip(laps, steps)]
    by_rank: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        by_rank.setdefault(row[0], []).append(at)
    seconds: list[float | None] = [row[3] for row in rows]
    ordered = [sorted(mine, key=lambda at: steps[at]) for mine in by_rank.values()]
    firsts = [[rows[at][3] for at in mine if laps[at] == laps[mine[0]]] for mine in ordered]
    enough = [first for first in firsts if len(first) >= _LEAST]
    if enough and all(map(_clock, enough)):
        for mine in ordered:
            seconds[mine[0]] = None
            for before, at in zip(mine, mine[1:]):
                gone, took = steps[at] - steps[before], rows[at][3] - rows[before][3]
                # It began again, or a row is there twice.
                seconds[at] = took / gone if gone > 0 and took > 0 else None
    return list(zip(steps, seconds))


def _laps(rows: Sequence[Told]) -> list[int]:
    """How often the steps began again before each row; 0 for all where every step of a rank is there once."""
    if len({(rank, step) for rank, _epoch, step, _seconds in rows}) == len(rows):
        return [0] * len(rows)
    if all(row[1] >= 0 for row in rows):
        order = {epoch: at for at, epoch in enumerate(sorted({row[1] for row in rows}))}
        return [order[row[1]] for row in rows]
    found = []
    lap: dict[str, int] = {}
    last: dict[str, int] = {}
    seen: dict[str, set[int]] = {}
    for rank, _epoch, step, _seconds in rows:
        mine = seen.setdefault(rank, set())
        if step in mine and step < last[rank]:
            lap[rank] = lap.get(rank, 0) + 1
            mine.clear()
        mine.add(step)
        last[rank] = step
        found.append(lap.get(rank, 0))
    return found


def _clock(seconds: Sequence[float]) -> bool:
    """Whether these are times since the job began: they never fall, and the last is many times the first."""
    count = len(seconds)
    if any(after < before for before, after in zip(seconds, seconds[1:])):
        return False
    first, last = seconds[0], seconds[-1]
    middle = median(after - before for before, after in zip(seconds, seconds[1:]))
    if middle <= 0:
        return False
    steps = [after - before for before, after in zip(seconds, seconds[1:])]
    many = count >= _MANY and min(steps) > 0
    even = many and middle >= _OF_FIRST * first and 1.5 * min(steps) >= max(steps) / 1.5
    return last >= max(_TIMES, count / _OF_ROWS) * first or (many and last >= _OF_MANY * first) or even
