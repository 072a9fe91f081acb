# SPDX-License-Identifier: GPL-3.0-or-later
"""Medians and what goes by them: a few wild values change nothing."""

from __future__ import annotations

import math
from typing import Sequence

# Of a normal distribution: its deviation by its median absolute deviation, and the error of a median by that of a mean.
_MAD = 1.4826
_MEDIAN_ERROR = 1.2533
_LONGEST = 1e8


def low(values: Sequence[float]) -> float:
    """The median; of an even number the lower of the two in the middle, so half of slow ranks do not move it."""
    return sorted(values)[(len(values) - 1) // 2]


def median(values: Sequence[float]) -> float:
    """The median, 0 of nothing."""
    if not values:
        return 0.0
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values: Sequence[float]) -> float:
    """The standard deviation as the median absolute deviation tells it."""
    if not values:
        return 0.0
    middle = median(values)
    return _MAD * median([abs(value - middle) for value in values])


def error(deviation: float, count: int) -> float:
    """The standard error of a median of so many values."""
    return _MEDIAN_ERROR * deviation / math.sqrt(max(count, 1))


def needed(units: int) -> float:
    """How many standard errors make a unit stand out of so many: the largest of `units` normal values
    lies near sqrt(2 ln units), and two more are a chance of less than one in a hundred jobs."""
    return 2 + math.sqrt(2 * math.log(max(units, 2)))


def period(numbers: Sequence[int]) -> int:
    """K where (nearly) all of these steps are K apart, or a multiple of it; 0 where they are not."""
    gaps = [after - before for before, after in zip(numbers, numbers[1:])]
    if len(gaps) < 2:
        return 0
    best = max(sorted(set(gaps)), key=gaps.count)
    fits = sum(gap % best == 0 for gap in gaps)
    return best if best >= 2 and gaps.count(best) >= 2 and fits >= 0.8 * len(gaps) else 0


def sane(value: float | None) -> bool:
    """A length of time, in seconds: not below 0, and no longer than a job lasts."""
    return value is not None and 0 <= value <= _LONGEST
