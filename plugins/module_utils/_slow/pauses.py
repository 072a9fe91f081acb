# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that take many times as long as others: whether they hold a job up, and what is said of them."""

from __future__ import annotations

from .._parse._times import CHECKPOINT, COMMUNICATION, OPTIMIZER
from . import logs, words
from .kinds import LIKELY, PAUSED, POSSIBLE, Found
from .series import Pauses
from .stragglers import Stragglers

_PAUSED = 0.2
# Gradients are summed up over so many steps at most. Checkpoints are further apart.
_MOST_ACCUMULATED = 16


def decide(pauses: Pauses, gain: float) -> bool:
    """Whether they are the answer. ``gain``: what mending the other answer would save."""
    steady = (pauses.every or pauses.part == CHECKPOINT) and not _accumulates(pauses)
    return bool(steady) and pauses.share >= _PAUSED and pauses.share > gain


def judged(pauses: Pauses) -> Found:
    """Pauses as what the job is bound by."""
    sure = LIKELY if pauses.part == CHECKPOINT else POSSIBLE
    return Found(PAUSED, sure, pauses.share, tuple(sentences(pauses)), () if sure == LIKELY else logs.PARTS)


def without(pauses: Pauses, late: Stragglers) -> Pauses:
    """A straggler that is late now and then makes all ranks' steps long: that is no pause."""
    hits = set(late.hits)
    return Pauses() if sum(number in hits for number in pauses.steps) >= 0.6 * max(1, len(pauses.steps)) else pauses


def _accumulates(pauses: Pauses) -> bool:
    """Every few steps gradients are summed over the ranks and the optimizer runs: nothing of that could be saved."""
    return 0 < pauses.every <= _MOST_ACCUMULATED and pauses.part in ("", COMMUNICATION, OPTIMIZER)


def sentences(pauses: Pauses) -> list[str]:
    """How often, how long, and what they may be."""
    if not pauses.steps:
        return []
    when = f"Every {words.nth(pauses.every)} step takes" if pauses.every else _steps(len(pauses.steps))
    what = {
        CHECKPOINT: "a checkpoint is written",
        "": "a checkpoint, an evaluation, or a rank that halts: no log tells which",
    }.get(pauses.part, f"its {pauses.part} is longer")
    if _accumulates(pauses):
        what = (
            f"its {pauses.part} is longer, as gradient accumulation makes it"
            if pauses.part
            else "most likely gradient accumulation, else a checkpoint or an evaluation: no log tells which"
        )
    return [f"{when} {words.times(pauses.factor)} as long ({what}): {words.percent(pauses.share)} of all time."]


def _steps(count: int) -> str:
    return f"{words.many(count, 'step')}, now and then, take{'s' if count == 1 else ''}"
