# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job is bound by: the part of a step that keeps it from being faster, or the rank that all wait for.

No class is given without evidence: what the numbers leave open is called so, with what to switch on next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Mapping, Sequence

from .._parse._times import (
    CHECKPOINT,
    COMMUNICATION,
    COMPUTE,
    GATHERING,
    HOST as HOST_PART,
    IDLE,
    INPUT as INPUT_PART,
    LOADING,
    OPTIMIZER,
    PIPELINE_SEEN,
    Times,
)
from . import hints, logs, numbers, words
from .series import Pauses, Series, series
from .settings import of
from .shares import Shares, shares
from .stages import in_stages
from .stragglers import EFFECT, Guilty, Stragglers, stragglers
from .trend import trend

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
# A straggler is the answer from 3 % of a step on that it costs, and where it costs half of the largest other
# part, or 15 %. Else it is told beside the answer.
_COSTS, _HALF, _MUCH = 0.03, 0.5, 0.15
_PAUSED = 0.2
_FEW_STEPS = 5
# Gradients are summed up over so many steps at most. Checkpoints are further apart.
_MOST_ACCUMULATED = 16


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
            return f"the job waits for {_names(self.guilty)}{how}"
        return {
            UNEVEN: f"ranks wait for each other: their work is uneven{how}",
            PAUSED: f"the job is held up by pauses between its steps{how}",
        }.get(self.kind, f"the job is bound by {_SUBJECT.get(self.kind, self.kind)}{how}")


_SUBJECT = {
    INPUT: "its input: GPUs wait for data",
    HOST: "the host: GPUs wait for the processor between kernels",
}


@dataclass(frozen=True)
class _Class:
    kind: str
    sure: str = ""
    gain: float = 0.0
    because: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Seen:
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


def judged(times: Times) -> Bound:
    """The class of a job by its times, whatever they were read from."""
    steps = series(times.steps)
    rows = [step for row in steps.work for step in row.values()]
    hides = tuple(dict.fromkeys(what for step in rows for what in step.hides))
    summed = any(step.summed for step in rows)
    seen = _Seen(steps, shares(steps), hints.by_gpu(times.busy), hides, summed)
    stages = of(times.settings).pipeline or 1
    piped = stages > 1 or PIPELINE_SEEN in times.settings
    late = in_stages(steps) if piped else stragglers(steps)
    by_stage = piped and not late.guilty
    if by_stage:
        late = stragglers(steps)
    pauses = _without(steps.pauses, late)
    notes = [*_warm(steps), *_pause_notes(pauses), *trend(steps), *hints.unused(times.busy)]
    found = _class(seen)
    largest = 0.0 if found.kind in (COMPUTATION, CANNOT_TELL) else found.gain
    guilty = late.guilty
    if by_stage and late.guilty:
        guilty = ()
        found, more = _of_stages(late, steps, found, largest, stages)
        notes += more
    elif late.guilty and late.gain >= _COSTS and (late.gain >= _HALF * largest or late.gain >= _MUCH):
        found = _straggler(seen, late)
    elif late.guilty:
        notes += [f"Beside that: {sentence}" for sentence in _late_words(late, steps)]
    else:
        hint = _hinted(times, seen)
        if hint and found.kind in (CANNOT_TELL, COMMUNICATION_BOUND):
            found, guilty = hint
        elif late.uneven or (seen.shares.waiting >= BOUND and found.kind in (COMPUTATION, CANNOT_TELL)):
            found, more = _uneven(seen, late, found)
            notes += more
    if found.kind == STRAGGLER and by_stage:
        found = replace(found, sure=LIKELY if found.sure == SURE else found.sure)
        notes.append(_pipeline(stages))
    steady = (pauses.every or pauses.part == CHECKPOINT) and not _accumulates(pauses)
    if steady and pauses.share >= _PAUSED and pauses.share > found.gain and found.kind != STRAGGLER:
        found = _paused(pauses)
        notes = [note for note in notes if note not in found.because]
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


def _class(seen: _Seen) -> _Class:
    """By the shares of a step, of no rank in particular."""
    if not seen.series.usual:
        return _by_busy(seen)
    if not seen.shares.parts:
        return _by_totals(seen)
    found = _bounded(seen, _by_shares(seen))
    if len(seen.series.usual) < _FEW_STEPS:
        count = words.many(len(seen.series.usual), "step")
        text = f"Only {count} of the job {'is' if count == '1 step' else 'are'} told, which may be warm-up."
        return replace(found, sure=POSSIBLE if found.sure else "", because=(*found.because, text))
    return found


def _bounded(seen: _Seen, found: _Class) -> _Class:
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


def _by_shares(seen: _Seen) -> _Class:
    """The largest of the parts other than computation, where it is large enough."""
    levers = {
        COMMUNICATION_BOUND: seen.shares.transfer,
        INPUT: seen.share(INPUT_PART),
        HOST: seen.share(HOST_PART, IDLE),
    }
    best = max(levers, key=lambda kind: levers[kind])
    if levers[best] >= BOUND:
        return _by_part(seen, best, levers[best])
    return _by_rest(seen, levers)


_WHAT = {
    COMMUNICATION_BOUND: "communication that no computation hides",
    INPUT: "waiting for data",
    HOST: "GPUs that stand still between kernels",
}


def _by_part(seen: _Seen, kind: str, share: float) -> _Class:
    sure = SURE if share >= CLEAR and seen.shares.overlap < 0.05 else LIKELY
    because = [f"{words.percent(share)} of a step ({_of(seen, share)}) is {_WHAT[kind]}; {_rest(seen, kind)}."]
    missing: tuple[str, ...] = ()
    if kind == COMMUNICATION_BOUND:
        if seen.shares.split:
            others = "the first to come waits" if seen.shares.ends else "the others wait"
            because.append(
                "That is the share of the rank that comes last in each step and waits for nobody: "
                f"{others} {words.percent(seen.shares.waiting)} of a step on top of it."
            )
        else:
            sure, missing = POSSIBLE, logs.RANKS
            because.append("Only one rank tells it, so transfers and waiting for a slower rank cannot be told apart.")
    if kind == HOST and not seen.told(INPUT_PART):
        sure, missing = POSSIBLE, logs.PARTS
        because.append("No log tells the loading of data apart, so it may be that.")
    if seen.shares.overlap >= 0.05:
        because.append(
            f"The parts are told {words.percent(seen.shares.overlap)} longer than the step: some run beside others."
        )
    return _Class(kind, sure, share, tuple(because), missing)


def _by_rest(seen: _Seen, levers: Mapping[str, float]) -> _Class:
    """No part other than computation has a quarter."""
    compute, untold = seen.share(COMPUTE, OPTIMIZER), seen.shares.untold
    small = ", ".join(f"{_NAME[kind]} {words.percent(share)}" for kind, share in levers.items() if _told(seen, kind))
    enough = MOSTLY if seen.told(COMMUNICATION) else 1 - BOUND
    if seen.told(COMPUTE) and (compute >= enough or untold < BOUND):
        sure = SURE if compute >= enough else LIKELY
        text = f"Computation takes {words.percent(compute)} of a step ({_of(seen, compute)})"
        return _Class(COMPUTATION, sure, 0.0, (text + (f"; {small}." if small else "."),))
    rest = 1 - sum(levers.values()) if not seen.told(COMPUTE) else untold
    left = f"{words.percent(rest)} of a step is in no part that is told" + (f" ({small})." if small else ".")
    network, data = seen.told(COMMUNICATION), seen.told(INPUT_PART)
    host = seen.told(HOST_PART, IDLE)
    if not seen.told(COMPUTE):
        if network and data and host:
            text = f"Neither communication, input nor the host has a quarter of a step: {small}."
            return _Class(COMPUTATION, LIKELY, 0.0, (text,))
        if network and seen.full:
            return _Class(COMPUTATION, LIKELY, 0.0, (left, _busy(seen)))
    if network and data and not host and (seen.told(COMPUTE) or seen.idle):
        why = (left, _busy(seen)) if seen.idle else (left, "It is neither computation, communication nor input.")
        return _Class(HOST, LIKELY, rest, why)
    if not network and seen.told(COMPUTE) and seen.full:
        spins = "A GPU is busy while it waits in a kernel of NCCL, so the rest is communication, or waiting in it."
        return _Class(COMMUNICATION_BOUND, POSSIBLE, rest, (left, _busy(seen), spins), logs.RANKS)
    because = [left]
    if seen.told(COMPUTE) and seen.told(OPTIMIZER) and network and not data and not host and rest >= BOUND:
        because.append(
            "It is outside of all clocks, of the passes, of communication and of the optimizer: the loader of data or "
            "the host, or a pause between steps."
        )
    if seen.percent is not None:
        because.append(_busy(seen))
    return _Class(CANNOT_TELL, because=tuple(because), missing=(*logs.PARTS, *(() if seen.busy else (logs.DMON,))))


_NAME = {COMMUNICATION_BOUND: "communication", INPUT: "input", HOST: "host"}


def _told(seen: _Seen, kind: str) -> bool:
    names = {COMMUNICATION_BOUND: (COMMUNICATION,), INPUT: (INPUT_PART,), HOST: (HOST_PART, IDLE)}
    return seen.told(*names[kind])


def _by_totals(seen: _Seen) -> _Class:
    """Nothing but how long steps take."""
    count, ranks = words.many(len(seen.series.usual), "step"), len(seen.series.ranks)
    because = [
        f"Only the length of {count} is told (usually {words.span(seen.series.typical)}), and none of its parts."
    ]
    if ranks > 1:
        because.append(
            f"All {ranks} ranks take equally long, as ranks that synchronise in each step do: "
            "the totals do not tell who waits for whom."
        )
    if seen.busy:
        because.append(_busy(seen))
    if seen.idle:
        because.append("So neither computation nor the network holds it up: it is the data or the host.")
    elif seen.full:
        because.append("So it is computation or communication: a GPU that waits in NCCL is busy too.")
    return _Class(CANNOT_TELL, because=tuple(because), missing=(*logs.PARTS, *(() if seen.busy else (logs.DMON,))))


def _by_busy(seen: _Seen) -> _Class:
    """No steps at all."""
    if not seen.busy:
        return _Class(CANNOT_TELL, because=("No times of steps are told.",), missing=(*logs.PARTS, logs.DMON))
    if seen.idle:
        text = "So neither computation nor NCCL keeps it: the GPUs wait for data or for the host."
    elif seen.full:
        text = "That is computation or communication: a GPU that waits in NCCL is busy too."
    else:
        text = "That is no clear sign of anything."
    return _Class(CANNOT_TELL, because=(_busy(seen), text), missing=logs.PARTS)


def _straggler(seen: _Seen, late: Stragglers) -> _Class:
    """Sure where the others are seen to wait for it."""
    waited = [each.waited for each in late.guilty]
    sure = SURE if all(value is not None for value in waited) and len(seen.series.usual) >= 10 else LIKELY
    because = _late_words(late, seen.series)
    if None in waited and late.basis == "total time":
        because.append("The ranks do not take equally long, so they do not synchronise in each step.")
    elif None in waited:
        because.append("No log tells whether the others wait for it: communication is not told.")
    because.append(f"Without it a step would be {words.percent(late.gain)} shorter.")
    return _Class(STRAGGLER, sure, late.gain, tuple(because), () if sure == SURE else logs.RANKS)


def _pipeline(stages: int) -> str:
    many = f" of {stages} stages" if stages > 1 else ""
    return f"The job is a pipeline{many}: who is late may have a stage with more work."


def _of_stages(late: Stragglers, steps: Series, found: _Class, largest: float, stages: int) -> tuple[_Class, list[str]]:
    """Ranks that are late in a pipeline, and not held against ranks of their own stage."""
    sentences = _late_words(late, steps)
    if late.gain >= _COSTS and (late.gain >= _HALF * largest or late.gain >= _MUCH):
        gain = f"With even stages a step would be at most {words.percent(late.gain)} shorter."
        return _Class(UNEVEN, LIKELY, late.gain, (*sentences, gain)), [_pipeline(stages)]
    return found, [*(f"Beside that: {sentence}" for sentence in sentences), _pipeline(stages)]


def _late_words(late: Stragglers, found: Series) -> list[str]:
    sentences = []
    for each in late.guilty:
        part = f", most of it {_PART.get(each.part, each.part)}" if each.part else ""
        more = f"{words.span(each.more)} ({words.percent(each.more / found.typical)} of a step) more {late.basis}"
        if each.now_and_then:
            when = f"every {words.nth(each.every)} step" if each.every else f"{words.percent(each.often)} of the steps"
        else:
            when = f"{words.percent(each.often)} of the steps"
        text = f"{_capital(each.name)} takes {more} than the other ranks{part}, in {when}"
        if each.waited is not None:
            text += f"; the others wait {words.span(each.waited)} longer in communication"
        sentences.append(text + ".")
    return sentences


_PART = {COMPUTE: "computation", INPUT_PART: "loading data", HOST_PART: "the host", OPTIMIZER: "the optimizer"}


def _hinted(times: Times, seen: _Seen) -> tuple[_Class, tuple[Guilty, ...]] | None:
    """A straggler that only calls, GPUs or the log's own words show."""
    if few := hints.idle_few(seen.busy):
        busiest = min(percent for percent in seen.busy.values() if percent >= hints.BUSY_GPU)
        text = (
            f"{_capital(_names(few))} stands still ("
            + ", ".join(words.percent(value / 100) for value in sorted(seen.busy.values())[: len(few)])
            + f" busy) while all others are at least {words.percent(busiest / 100)} busy, as GPUs that wait in "
            "NCCL are: they wait for its host or its data."
        )
        return _Class(STRAGGLER, LIKELY, 0.0, (text,), logs.RANKS), tuple(few)
    if last := hints.last_comers(times.collectives):
        text = (
            f"{_capital(_names(last))}: the last to come, its calls are steadily the shortest; "
            "the others' hold the waiting for it. Why it comes late, the calls do not tell."
        )
        return _Class(STRAGGLER, LIKELY, 0.0, (text,), logs.PARTS), tuple(last)
    same = hints.always_slowest(times.steps)
    if same and seen.told(COMMUNICATION) and seen.shares.transfer >= BOUND:
        text = (
            f"{_capital(same[0].name)} is called the slowest in {_PART[same[0].part]} in "
            f"{words.percent(same[0].often)} of the steps, and communication takes "
            f"{words.percent(seen.shares.transfer)} of a step: a part of that is waiting for it."
        )
        return _Class(STRAGGLER, POSSIBLE, 0.0, (text,), logs.RANKS), tuple(same)
    return None


def _uneven(seen: _Seen, late: Stragglers, found: _Class) -> tuple[_Class, list[str]]:
    """Many ranks differ, or a different one is late each time."""
    waiting = max(seen.shares.waiting, late.gain)
    if late.uneven:
        count = f"{len(late.uneven)} of {len(seen.series.ranks)} ranks"
        text = (
            f"{count} ({words.listed(late.uneven)}) take longer than the others in most steps: too many for a broken "
            "part. The work is unevenly split: pipeline stages, experts, lengths of sequences."
        )
        if waiting < EFFECT or found.kind not in (COMPUTATION, CANNOT_TELL):
            return found, [text]
    elif seen.shares.ends:
        text = "Which rank comes last, and whether it is always the same, no log tells."
        first = f"The rank that comes first waits {words.percent(waiting)} of a step for the last."
        return _Class(UNEVEN, POSSIBLE, waiting, (first, text), logs.RANKS), []
    else:
        text = (
            "No rank is the late one in most steps: lengths of sequences differ, experts, or the hosts are disturbed."
        )
    first = f"{words.percent(waiting)} of a step the ranks wait for the one that comes last."
    return _Class(UNEVEN, LIKELY, waiting, (first, text), found.missing), []


def _paused(pauses: Pauses) -> _Class:
    sure = LIKELY if pauses.part == CHECKPOINT else POSSIBLE
    return _Class(PAUSED, sure, pauses.share, tuple(_pause_notes(pauses)), () if sure == LIKELY else logs.PARTS)


def _without(pauses: Pauses, late: Stragglers) -> Pauses:
    """A straggler that is late now and then makes all ranks' steps long: that is no pause."""
    hits = set(late.hits)
    return Pauses() if sum(number in hits for number in pauses.steps) >= 0.6 * max(1, len(pauses.steps)) else pauses


def _accumulates(pauses: Pauses) -> bool:
    """Every few steps gradients are summed over the ranks and the optimizer runs: nothing of that could be saved."""
    return 0 < pauses.every <= _MOST_ACCUMULATED and pauses.part in ("", COMMUNICATION, OPTIMIZER)


def _pause_notes(pauses: Pauses) -> list[str]:
    if not pauses.steps:
        return []
    when = f"Every {words.nth(pauses.every)} step takes" if pauses.every else f"{_steps(len(pauses.steps))}"
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


def _warm(found: Series) -> list[str]:
    if not found.warm:
        return []
    one = found.warm == 1
    return [f"The first {'step is' if one else f'{found.warm} steps are'} warm-up, and left out."]


def _busy(seen: _Seen) -> str:
    return f"GPUs are busy {words.percent((seen.percent or 0) / 100)} of the time (median of {len(seen.busy)})."


def _of(seen: _Seen, share: float) -> str:
    return f"{words.span(share * seen.series.typical)} of {words.span(seen.series.typical)}"


def _rest(seen: _Seen, kind: str) -> str:
    """What the other parts take."""
    own = {COMMUNICATION_BOUND: (COMMUNICATION,), INPUT: (INPUT_PART,), HOST: (HOST_PART, IDLE)}[kind]
    parts = [f"{name} {words.percent(share)}" for name, share in seen.shares.parts.items() if name not in own]
    if seen.shares.untold >= 0.01:
        parts.append(f"told by no log {words.percent(seen.shares.untold)}")
    return ", ".join(parts) or "nothing else is told"


def _names(guilty: Sequence[Guilty]) -> str:
    more = f" and {len(guilty) - 4} more" if len(guilty) > 4 else ""
    return " and ".join(each.name for each in guilty[:4]) + more


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def told(bound: Bound) -> Sequence[str]:
    """Everything a person reads of it, the answer first."""
    lines = [f"{_capital(bound.head)}.", *bound.because, *bound.notes]
    return [*lines, *(f"To know more, switch on: {name}" for name in bound.missing)]
