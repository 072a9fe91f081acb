# SPDX-License-Identifier: GPL-3.0-or-later
"""The class of a job by the parts of a step; by its length or how busy GPUs are, where no part is told."""

from __future__ import annotations

from typing import Mapping

from .._parse._times import COMMUNICATION, COMPUTE, HOST as HOST_PART, IDLE, INPUT as INPUT_PART, OPTIMIZER
from . import logs, words
from .kinds import (
    BOUND,
    CANNOT_TELL,
    CLEAR,
    COMMUNICATION_BOUND,
    COMPUTATION,
    HOST,
    INPUT,
    LIKELY,
    MOSTLY,
    POSSIBLE,
    SURE,
    Found,
    Seen,
)

_NAME = {COMMUNICATION_BOUND: "communication", INPUT: "input", HOST: "host"}
_WHAT = {
    COMMUNICATION_BOUND: "communication that no computation hides",
    INPUT: "waiting for data",
    HOST: "GPUs that stand still between kernels",
}


def by_shares(seen: Seen) -> Found:
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


def _by_part(seen: Seen, kind: str, share: float) -> Found:
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
    return Found(kind, sure, share, tuple(because), missing)


def _by_rest(seen: Seen, levers: Mapping[str, float]) -> Found:
    """No part other than computation has a quarter."""
    compute, untold = seen.share(COMPUTE, OPTIMIZER), seen.shares.untold
    small = ", ".join(f"{_NAME[kind]} {words.percent(share)}" for kind, share in levers.items() if _told(seen, kind))
    enough = MOSTLY if seen.told(COMMUNICATION) else 1 - BOUND
    if seen.told(COMPUTE) and (compute >= enough or untold < BOUND):
        sure = SURE if compute >= enough else LIKELY
        text = f"Computation takes {words.percent(compute)} of a step ({_of(seen, compute)})"
        return Found(COMPUTATION, sure, 0.0, (text + (f"; {small}." if small else "."),))
    rest = 1 - sum(levers.values()) if not seen.told(COMPUTE) else untold
    left = f"{words.percent(rest)} of a step is in no part that is told" + (f" ({small})." if small else ".")
    network, data = seen.told(COMMUNICATION), seen.told(INPUT_PART)
    host = seen.told(HOST_PART, IDLE)
    if not seen.told(COMPUTE):
        if network and data and host:
            text = f"Neither communication, input nor the host has a quarter of a step: {small}."
            return Found(COMPUTATION, LIKELY, 0.0, (text,))
        if network and seen.full:
            return Found(COMPUTATION, LIKELY, 0.0, (left, seen.busy_words))
    if network and data and not host and (seen.told(COMPUTE) or seen.idle):
        why = (left, seen.busy_words) if seen.idle else (left, "It is neither computation, communication nor input.")
        return Found(HOST, LIKELY, rest, why)
    if not network and seen.told(COMPUTE) and seen.full:
        spins = "A GPU is busy while it waits in a kernel of NCCL, so the rest is communication, or waiting in it."
        return Found(COMMUNICATION_BOUND, POSSIBLE, rest, (left, seen.busy_words, spins), logs.RANKS)
    because = [left]
    if seen.told(COMPUTE) and seen.told(OPTIMIZER) and network and not data and not host and rest >= BOUND:
        because.append(
            "It is outside of all clocks, of the passes, of communication and of the optimizer: the loader of data or "
            "the host, or a pause between steps."
        )
    if seen.percent is not None:
        because.append(seen.busy_words)
    return Found(CANNOT_TELL, because=tuple(because), missing=(*logs.PARTS, *(() if seen.busy else (logs.DMON,))))


def by_totals(seen: Seen) -> Found:
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
        because.append(seen.busy_words)
    if seen.idle:
        because.append("So neither computation nor the network holds it up: it is the data or the host.")
    elif seen.full:
        because.append("So it is computation or communication: a GPU that waits in NCCL is busy too.")
    return Found(CANNOT_TELL, because=tuple(because), missing=(*logs.PARTS, *(() if seen.busy else (logs.DMON,))))


def by_busy(seen: Seen) -> Found:
    """No steps at all."""
    if not seen.busy:
        return Found(CANNOT_TELL, because=("No times of steps are told.",), missing=(*logs.PARTS, logs.DMON))
    if seen.idle:
        text = "So neither computation nor NCCL keeps it: the GPUs wait for data or for the host."
    elif seen.full:
        text = "That is computation or communication: a GPU that waits in NCCL is busy too."
    else:
        text = "That is no clear sign of anything."
    return Found(CANNOT_TELL, because=(seen.busy_words, text), missing=logs.PARTS)


def _told(seen: Seen, kind: str) -> bool:
    names = {COMMUNICATION_BOUND: (COMMUNICATION,), INPUT: (INPUT_PART,), HOST: (HOST_PART, IDLE)}
    return seen.told(*names[kind])


def _of(seen: Seen, share: float) -> str:
    return f"{words.span(share * seen.series.typical)} of {words.span(seen.series.typical)}"


def _rest(seen: Seen, kind: str) -> str:
    """What the other parts take."""
    own = {COMMUNICATION_BOUND: (COMMUNICATION,), INPUT: (INPUT_PART,), HOST: (HOST_PART, IDLE)}[kind]
    parts = [f"{name} {words.percent(share)}" for name, share in seen.shares.parts.items() if name not in own]
    if seen.shares.untold >= 0.01:
        parts.append(f"told by no log {words.percent(seen.shares.untold)}")
    return ", ".join(parts) or "nothing else is told"
