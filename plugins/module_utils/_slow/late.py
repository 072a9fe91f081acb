# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that others wait for: what is said of them, and when they are what a job is bound by."""

from __future__ import annotations

from typing import Sequence

from .._parse._times import COMMUNICATION, COMPUTE, HOST as HOST_PART, INPUT as INPUT_PART, OPTIMIZER, Times
from . import hints, logs, words
from .kinds import BOUND, CANNOT_TELL, COMPUTATION, LIKELY, POSSIBLE, STRAGGLER, SURE, UNEVEN, Found, Seen
from .series import Series
from .stragglers import EFFECT, Guilty, Stragglers

# A straggler is the answer from 3 % of a step on that it costs, and where it costs half of the largest other
# part, or 15 %. Else it is told beside the answer.
_COSTS, _HALF, _MUCH = 0.03, 0.5, 0.15
# Fewer steps than these may be like that by chance.
STEPS = 10
_PART = {COMPUTE: "computation", INPUT_PART: "loading data", HOST_PART: "the host", OPTIMIZER: "the optimizer"}


def decides(late: Stragglers, largest: float) -> bool:
    """Whether they are the answer. ``largest``: the share of the largest other part."""
    return late.gain >= _COSTS and (late.gain >= _HALF * largest or late.gain >= _MUCH)


def straggler(seen: Seen, late: Stragglers) -> Found:
    """Sure where the others are seen to wait for it."""
    waited = [each.waited for each in late.guilty]
    few = len(seen.series.usual) < STEPS
    sure = SURE if all(value is not None for value in waited) and not few else LIKELY
    if few and late.gain < _MUCH:
        sure = POSSIBLE
    because = sentences(late, seen.series)
    if None in waited and late.basis == "total time":
        because.append("The ranks' steps are not equally long, so each text tells its own work, without the waiting.")
    elif None in waited:
        because.append("No log tells whether the others wait for it: communication is not told.")
    them = "it" if len(late.guilty) == 1 else "them"
    because.append(f"Without {them} a step would be {words.percent(late.gain)} shorter.")
    return Found(STRAGGLER, sure, late.gain, tuple(because), () if sure == SURE else logs.RANKS)


def pipeline(stages: int) -> str:
    """What a pipeline makes of it."""
    many = f" of {stages} stages" if stages > 1 else ""
    return f"The job is a pipeline{many}: who is late may have a stage with more work."


def of_stages(late: Stragglers, steps: Series, found: Found, largest: float, stages: int) -> tuple[Found, list[str]]:
    """Ranks that are late in a pipeline, and not held against ranks of their own stage."""
    told = sentences(late, steps)
    if decides(late, largest):
        gain = f"With even stages a step would be at most {words.percent(late.gain)} shorter."
        return Found(UNEVEN, LIKELY, late.gain, (*told, gain)), [pipeline(stages)]
    return found, [*(f"Beside that: {sentence}" for sentence in told), pipeline(stages)]


def sentences(late: Stragglers, found: Series) -> list[str]:
    """Of each who is late: by how much, how often, and who waits."""
    told = []
    for each in late.guilty:
        part = f", most of it {_PART.get(each.part, each.part)}" if each.part else ""
        more = f"{words.span(each.more)} ({words.percent(each.more / found.typical)} of a step) more {late.basis}"
        if each.now_and_then:
            when = f"every {words.nth(each.every)} step" if each.every else f"{words.percent(each.often)} of the steps"
        else:
            when = f"{words.percent(each.often)} of the steps"
        text = f"{words.capital(each.name)} takes {more} than the other ranks{part}, in {when}"
        if each.waited is not None:
            text += f"; the others wait {words.span(each.waited)} longer in communication"
        told.append(text + ".")
    return told


def hinted(times: Times, seen: Seen) -> tuple[Found, tuple[Guilty, ...]] | None:
    """A straggler that only calls, GPUs or the log's own words show."""
    if few := hints.idle_few(seen.busy):
        busiest = min(percent for percent in seen.busy.values() if percent >= hints.BUSY_GPU)
        text = (
            f"{words.capital(names(few))} stands still ("
            + ", ".join(words.percent(value / 100) for value in sorted(seen.busy.values())[: len(few)])
            + f" busy) while all others are at least {words.percent(busiest / 100)} busy, as GPUs that wait in "
            "NCCL are: they wait for its host or its data."
        )
        return Found(STRAGGLER, LIKELY, 0.0, (text,), logs.RANKS), tuple(few)
    slow, clock, usual = hints.slow_clocks(times.busy)
    if slow:
        text = (
            f"{words.capital(names(slow))} runs at {clock:.0f} MHz, the others at {usual:.0f} MHz, all of them busy: "
            "something holds its clock down, heat, power or a fault (`nvidia-smi -q -d PERFORMANCE` tells which)."
        )
        hosts = {each.host for each in slow}
        # Of one host some are as fast as they all should be; a whole host may have GPUs of another kind.
        alike = any(all(gpu in {each.gpu for each in slow} for of, gpu in seen.busy if of == host) for host in hosts)
        because = (text, "Unless they are GPUs of another model, which runs at other clocks.") if alike else (text,)
        return Found(STRAGGLER, POSSIBLE if alike else LIKELY, 0.0, because, logs.RANKS), tuple(slow)
    if last := hints.last_comers(times.collectives):
        text = (
            f"{words.capital(names(last))}: the last to come, its calls are steadily the shortest; "
            "the others' hold the waiting for it. Why it comes late, the calls do not tell."
        )
        return Found(STRAGGLER, LIKELY, 0.0, (text,), logs.PARTS), tuple(last)
    same = hints.always_slowest(times.steps)
    if same and seen.told(COMMUNICATION) and seen.shares.transfer >= BOUND:
        text = (
            f"{words.capital(same[0].name)} is called the slowest in {_PART[same[0].part]} in "
            f"{words.percent(same[0].often)} of the steps, and communication takes "
            f"{words.percent(seen.shares.transfer)} of a step: a part of that is waiting for it."
        )
        return Found(STRAGGLER, POSSIBLE, 0.0, (text,), logs.RANKS), tuple(same)
    return None


def uneven(seen: Seen, late: Stragglers, found: Found) -> tuple[Found, list[str]]:
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
        return Found(UNEVEN, POSSIBLE, waiting, (first, text), logs.RANKS), []
    else:
        text = (
            "No rank is the late one in most steps: lengths of sequences differ, experts, or the hosts are disturbed."
        )
    first = f"{words.percent(waiting)} of a step the ranks wait for the one that comes last."
    return Found(UNEVEN, LIKELY, waiting, (first, text), found.missing), []


def names(guilty: Sequence[Guilty]) -> str:
    """Those, for a sentence, in their order."""
    more = f" and {len(guilty) - 4} more" if len(guilty) > 4 else ""
    ordered = sorted(guilty, key=lambda each: (words.order(each.rank), each.host, each.gpu))
    return " and ".join(each.name for each in ordered[:4]) + more
