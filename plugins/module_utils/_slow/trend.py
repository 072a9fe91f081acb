# SPDX-License-Identifier: GPL-3.0-or-later
"""What the length of steps tells by itself: whether it grows, and how unsteady it is."""

from __future__ import annotations

from . import numbers, words
from .series import Series

# Ours: a tenth is no noise of a well-kept job, and a clock that heat lowers costs 5 % and more.
GROWS, UNSTEADY = 0.05, 0.1
_LEAST, _QUARTERS = 20, 4
_DEVIATIONS = 4.0


def trend(found: Series) -> list[str]:
    """Sentences on growth and jitter of the usual steps; none where neither is seen."""
    values = [found.seconds[number] for number in found.usual]
    if len(values) < _LEAST:
        return []
    middle, size = numbers.median(values), len(values) // _QUARTERS
    quarters = [values[at * size : (at + 1) * size] for at in range(_QUARTERS)]
    middles = [numbers.median(quarter) for quarter in quarters]
    noise = numbers.low([numbers.spread(quarter) for quarter in quarters])
    rise = middles[-1] - middles[0]
    rising = all(before <= after for before, after in zip(middles, middles[1:]))
    notes = []
    if rising and rise >= GROWS * middle and rise >= _DEVIATIONS * numbers.error(noise, size):
        notes.append(
            f"Steps grow longer: from {words.span(middles[0])} in the first quarter to {words.span(middles[-1])} "
            "in the last. Heat that lowers clocks does that, growing memory, longer sequences."
        )
    if noise >= UNSTEADY * middle:
        notes.append(f"Steps are unsteady: they differ by {words.percent(noise / middle)} from one to the next.")
    return notes
