# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of ``nvidia-smi nvlink -e``: from which rate or count on they mean what (nvlink_errors.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import nvlink_errors as rows

# Counters of 8, 16 and 32 bits that stopped counting.
SATURATED = (255, 65535, 4294967295)


@dataclass(frozen=True)
class Threshold:
    """``warn`` and ``fail``: from this count on, where nobody looked twice; ``fail`` None: never
    worse than a warning.

    ``rate``: so many more in a second slow jobs now; fewer are a warning, and 0 means that any rise
    does. ``lasts``: what it counts is not over until the GPU is reset, whether it rises or not.
    """

    warn: int
    fail: int | None
    means: str
    source: str
    confidence: str = "medium"
    rate: float | None = None
    lasts: bool = False


THRESHOLDS: dict[str, Threshold] = load_by_key(Threshold, rows.THRESHOLDS)
# Any other counter of this ending: something is amiss, nobody knows how bad.
UNKNOWN_ENDING = "Errors"
UNKNOWN = Threshold(1, None, "a counter that is not in the table", "none", "recalled")
# Corrected code words: billions on a sound link.
NO_ERRORS = ("FEC Errors",)


def threshold(counter: str) -> Threshold | None:
    """What is known of the counter; None where it does not count errors."""
    if counter.startswith(NO_ERRORS):
        return None
    known = THRESHOLDS.get(counter)
    return UNKNOWN if known is None and counter.endswith(UNKNOWN_ENDING) else known
