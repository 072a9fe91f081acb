# SPDX-License-Identifier: GPL-3.0-or-later
"""The classes that a job may be bound by, how sure one is, and the numbers that they are judged from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from . import hints, numbers, words
from .series import Series
from .shares import Shares

COMMUNICATION_BOUND, COMPUTATION, INPUT, HOST, STRAGGLER, UNEVEN, PAUSED, CANNOT_TELL = (
    "communication",
    "computation",
    "input",
    "host",
    "straggler",
    "uneven",
    "pauses",
    "cannot tell",
)
KINDS = (COMMUNICATION_BOUND, COMPUTATION, INPUT, HOST, STRAGGLER, UNEVEN, PAUSED, CANNOT_TELL)
SURE, LIKELY, POSSIBLE = "sure", "likely", "possible"

# A job is bound by a part other than computation from a quarter of a step on: without it the job is a third
# faster. Ours; where computation has 60 % and no other part a quarter, computation it is.
BOUND, CLEAR = 0.25, 0.3
MOSTLY = 0.6


@dataclass(frozen=True)
class Found:
    """A class and its evidence, as Bound says."""

    kind: str
    sure: str = ""
    gain: float = 0.0
    because: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What the times of a job tell."""

    series: Series
    shares: Shares
    busy: Mapping[tuple[str, int], float]
    hides: tuple[str, ...] = ()
    summed: bool = False

    def share(self, *names: str) -> float:
        return sum(self.shares.parts.get(name, 0.0) for name in names)

    def told(self, *names: str) -> bool:
        return any(name in self.shares.parts for name in names)

    @property
    def percent(self) -> float | None:
        """How busy the GPUs are."""
        return numbers.median(list(self.busy.values())) if self.busy else None

    @property
    def idle(self) -> bool:
        return self.percent is not None and self.percent < hints.IDLE_GPU

    @property
    def full(self) -> bool:
        return self.percent is not None and self.percent >= hints.BUSY_GPU

    @property
    def busy_words(self) -> str:
        """How busy the GPUs are, as a sentence."""
        return f"GPUs are busy {words.percent((self.percent or 0) / 100)} of the time (median of {len(self.busy)})."
