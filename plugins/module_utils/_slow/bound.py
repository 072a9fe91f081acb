# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job is bound by: the part of a step that keeps it from being faster, or the rank that all wait for.

No class is given without evidence: what the numbers leave open is called so, with what to switch on next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Mapping, Sequence

from .._parse._times import COMMUNICATION, GATHERING, LOADING, PIPELINE_SEEN, Times
from . import hints, late, logs, pauses, words
from .by_parts import by_busy, by_shares, by_totals
from .kinds import (
    BOUND,
    CANNOT_TELL,
    COMMUNICATION_BOUND,
    COMPUTATION,
    HOST,
    INPUT,
    LIKELY,
    PAUSED,
    POSSIBLE,
    STRAGGLER,
    SURE,
    UNEVEN,
    Found,
    Seen,
)
from .series import Series, series
from .settings import Settings, of
from .shares import shares
from .stages import in_stages
from .stragglers import Guilty, stragglers
from .trend import changed, trend

_FEW_STEPS = 5


@dataclass(frozen=True)
class Bound:
    """``kind``: a word of KINDS. ``sure``: SURE, LIKELY, POSSIBLE, "" where it cannot be told.
    ``seconds``: of a usual step. ``shares``: of a step by part, 1 is all of it; "waiting" is what
    communication takes only because another rank comes later, "untold" what no log names.
    ``gain``: how much shorter a step would be without what it is bound by, a share.
    ``guilty``: stragglers, also where the job is bound by something else. ``because``: sentences with the
    numbers. ``notes``: what else was seen. ``missing``: what to switch on to know more.
    ``steps``, ``ranks``: how many were looked at. ``hides``: what the time of computation may hold besides.
    ``summed``: the length of a step is not told, and is taken as the sum of its parts."""

    kind: str = CANNOT_TELL
    sure: str = ""
    seconds: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)
    gain: float = 0.0
    guilty: tuple[Guilty, ...] = ()
    because: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    steps: int = 0
    ranks: int = 0
    hides: tuple[str, ...] = ()
    summed: bool = False

    @property
    def head(self) -> str:
        """The answer in a line."""
        if self.kind == CANNOT_TELL:
            return "what the job is bound by cannot be told from these texts"
        how = "" if self.sure == SURE else f" ({self.sure})"
        if self.kind == STRAGGLER:
            return f"the job waits for {late.names(self.guilty)}{how}"
        return {
            UNEVEN: f"ranks wait for each other: their work is uneven{how}",
            PAUSED: f"the job is held up by pauses between its steps{how}",
        }.get(self.kind, f"the job is bound by {_SUBJECT.get(self.kind, self.kind)}{how}")


_SUBJECT = {
    INPUT: "its input: GPUs wait for data",
    HOST: "the host: GPUs wait for the processor between kernels",
}


def judged(times: Times, told: Settings | None = None) -> Bound:
    """The class of a job by its times, whatever they were read from. ``told``: the framework's settings beside them."""
    steps = series(times.steps)
    rows = [step for row in steps.work for step in row.values()]
    hides = tuple(dict.fromkeys(what for step in rows for what in step.hides))
    summed = any(step.summed for step in rows)
    seen = Seen(steps, shares(steps), hints.by_gpu(times.busy), hides, summed)
    stages = of(times.settings).pipeline or (told.pipeline if told is not None else None) or 1
    piped = stages > 1 or PIPELINE_SEEN in times.settings
    ranks = in_stages(steps) if piped else stragglers(steps)
    by_stage = piped and not ranks.guilty
    if by_stage:
        ranks = stragglers(steps)
    paused = pauses.without(steps.pauses, ranks)
    notes = [*_warm(steps), *pauses.sentences(paused), *trend(steps), *hints.unused(times.busy)]
    found = _class(seen)
    largest = 0.0 if found.kind in (COMPUTATION, CANNOT_TELL) else found.gain
    guilty = ranks.guilty
    if by_stage and guilty:
        guilty = ()
        found, more = late.of_stages(ranks, steps, found, largest, stages)
        notes += more
    elif guilty and late.decides(ranks, largest):
        found = late.straggler(seen, ranks)
    elif guilty and len(steps.usual) < late.STEPS:
        guilty = ()
    elif guilty:
        notes += [f"Beside that: {sentence}" for sentence in late.sentences(ranks, steps)]
    else:
        hint = late.hinted(times, seen)
        if hint and found.kind in (CANNOT_TELL, COMMUNICATION_BOUND):
            found, guilty = hint
        elif ranks.uneven or (seen.shares.waiting >= BOUND and found.kind in (COMPUTATION, CANNOT_TELL)):
            found, more = late.uneven(seen, ranks, found)
            notes += more
    if found.kind == STRAGGLER and by_stage:
        found = replace(found, sure=LIKELY if found.sure == SURE else found.sure)
        notes.append(late.pipeline(stages))
    if found.kind != STRAGGLER and pauses.decide(paused, found.gain):
        found = pauses.judged(paused)
        notes = [note for note in notes if note not in found.because]
    found = replace(found, because=(*changed(steps), *found.because))
    shown = {**seen.shares.parts} if seen.shares.parts else {}
    if seen.shares.split:
        shown.update({COMMUNICATION: seen.shares.transfer, "waiting": seen.shares.waiting})
    if shown and seen.shares.untold > 0.005:
        shown["untold"] = seen.shares.untold
    return Bound(
        found.kind,
        found.sure,
        steps.typical,
        shown,
        found.gain,
        guilty,
        found.because,
        tuple(notes),
        tuple(dict.fromkeys(found.missing)),
        len(steps.usual),
        len(steps.ranks),
        hides,
        summed,
    )


def _class(seen: Seen) -> Found:
    """By the shares of a step, of no rank in particular."""
    if not seen.series.usual:
        return by_busy(seen)
    if not seen.shares.parts:
        return by_totals(seen)
    found = _bounded(seen, by_shares(seen))
    if len(seen.series.usual) < _FEW_STEPS:
        count = words.many(len(seen.series.usual), "step")
        text = f"Only {count} of the job {'is' if count == '1 step' else 'are'} told, which may be warm-up."
        return replace(found, sure=POSSIBLE if found.sure else "", because=(*found.because, text))
    return found


def _bounded(seen: Seen, found: Found) -> Found:
    """No surer than the times allow: of an upper bound, and of a step whose length no log tells."""
    because, sure, missing = found.because, found.sure, found.missing
    if found.kind == COMPUTATION and seen.hides:
        sure = POSSIBLE if {LOADING, GATHERING}.intersection(seen.hides) else LIKELY if sure == SURE else sure
        because = (*because, f"That is at most: its timer holds {_all_of(seen.hides)} as well, where there is any.")
        missing = (*missing, logs.TRACE, *((logs.MEGATRON,) if LOADING in seen.hides else ()))
    if found.kind != CANNOT_TELL and seen.summed:
        sure = POSSIBLE
        text = "How long a step takes is not told, so this is the sum of its clocks: what lies between them is missing."
        because = (*because, text)
    return replace(found, because=because, sure=sure, missing=missing)


def _all_of(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _warm(found: Series) -> list[str]:
    if not found.warm:
        return []
    one = found.warm == 1
    return [f"The first {'step is' if one else f'{found.warm} steps are'} warm-up, and left out."]
