# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands out of equal things, by median and median absolute deviation (_data/bench.py)."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data.bench import (
    MAD_PER_SIGMA,
    OUTLIER_Z,
    TOLERANCE,
)


@dataclass(frozen=True)
class Usual:
    """``center``: the median of ``count`` values. ``mad``: their median absolute deviation."""

    center: float
    mad: float
    count: int

    def limit(self, *, more_is_better: bool) -> float:
        """What a value may be at worst: beyond the spread, and beyond what anybody would feel."""
        away = max(OUTLIER_Z * self.mad / MAD_PER_SIGMA, TOLERANCE * self.center)
        return self.center - away if more_is_better else self.center + away

    def is_worse(self, value: float, *, more_is_better: bool) -> bool:
        """Whether a value stands out to the worse."""
        limit = self.limit(more_is_better=more_is_better)
        return value < limit if more_is_better else value > limit


def usual(values: Sequence[float]) -> Usual:
    """Of at least one value."""
    center = median(values)
    return Usual(center, median(abs(value - center) for value in values), len(values))
