# SPDX-License-Identifier: GPL-3.0-or-later
"""Stragglers by what is no step: calls of collectives, how busy GPUs are, which rank a log calls the slowest."""

from __future__ import annotations

from typing import Iterable, Mapping, Sequence

from .._ground.text import few
from .._parse._times import COMPUTE, HOST, INPUT, Busy, Collective, Step
from . import numbers
from .stragglers import Guilty

# A kernel of NCCL that waits keeps its GPU busy, so a GPU that stands still waits for its own host or its data.
# The shared advice is "over 80 %"; below 70 and above 90 nobody argues.
IDLE_GPU, BUSY_GPU = 70.0, 90.0
_LOOKS = 3
# Clocks of one kind of GPU under one load differ by a tenth at most; heat, power and a fault take more. Ours.
_SLOW_CLOCK = 0.8
# In so many of the looks a GPU that no job uses has nothing to do.
_NEVER, _NOTHING = 0.9, 1.0
# The last to come to a collective waits for nobody: its calls are this much shorter, in so many of the calls.
_SHORTER, _STEADY, _CALLS = 0.7, 0.8, 5
# The same rank is called the slowest in so many of so many steps.
_SAME, _STEPS = 0.8, 8


def by_gpu(busy: Iterable[Busy]) -> dict[tuple[str, int], float]:
    """The median percent of each GPU that was looked at often enough; GPUs that nobody uses are left out."""
    looks = _looks(busy)
    used = {gpu: percents for gpu, percents in looks.items() if not _rests(percents)}
    return {gpu: numbers.median(percents) for gpu, percents in (used or looks).items()}


def unused(busy: Iterable[Busy]) -> list[str]:
    """A sentence on GPUs that do nothing while others work: the job need not wait for them."""
    looks = _looks(busy)
    idle = sorted(gpu for gpu, percents in looks.items() if _rests(percents))
    if not idle or len(idle) == len(looks):
        return []
    names = few([Guilty(host=host, gpu=gpu).name for host, gpu in idle], 8)
    what = "is not used by the job, or dead" if len(idle) == 1 else "are not used by the job, or dead"
    return [f"{names}: 0 % busy, so {'it' if len(idle) == 1 else 'they'} {what}."]


def _rests(percents: Sequence[float]) -> bool:
    return sum(percent < _NOTHING for percent in percents) >= _NEVER * len(percents)


def _looks(busy: Iterable[Busy]) -> dict[tuple[str, int], list[float]]:
    looks: dict[tuple[str, int], list[float]] = {}
    for look in busy:
        if numbers.sane(look.percent) and look.percent <= 100:
            looks.setdefault((look.host, look.gpu), []).append(look.percent)
    return {gpu: percents for gpu, percents in looks.items() if len(percents) >= _LOOKS}


def idle_few(gpus: Mapping[tuple[str, int], float]) -> list[Guilty]:
    """GPUs that stand still while all others are busy: the others spin in NCCL and wait for them."""
    idle = [gpu for gpu, percent in gpus.items() if percent < IDLE_GPU]
    busy = [gpu for gpu, percent in gpus.items() if percent >= BUSY_GPU]
    if not idle or len(idle) + len(busy) < len(gpus) or 2 * len(idle) > len(gpus) or len(gpus) < 3:
        return []
    hosts = {host for host, _unused in idle}
    whole = [host for host in hosts if host and all(gpu in idle for gpu in gpus if gpu[0] == host)]
    whole = [host for host in whole if sum(gpu[0] == host for gpu in gpus) > 1]
    found = [Guilty(host=host, part=HOST) for host in sorted(whole)]
    return found + [Guilty(host=host, gpu=gpu, part=HOST) for host, gpu in sorted(idle) if host not in whole]


def slow_clocks(busy: Iterable[Busy]) -> tuple[list[Guilty], float, float]:
    """Busy GPUs whose processors run far slower than those of the others, their clock and the others', in MHz."""
    clocks: dict[tuple[str, int], list[float]] = {}
    for look in busy:
        if look.clock > 0 and look.percent >= BUSY_GPU:
            clocks.setdefault((look.host, look.gpu), []).append(look.clock)
    usual = {gpu: numbers.median(seen) for gpu, seen in clocks.items() if len(seen) >= _LOOKS}
    middle = numbers.median(list(usual.values()))
    slow = sorted(gpu for gpu, clock in usual.items() if clock <= _SLOW_CLOCK * middle)
    if not slow or len(usual) < 3 or 2 * len(slow) >= len(usual):
        return [], 0.0, 0.0
    found = [Guilty(host=host, gpu=gpu, part=COMPUTE) for host, gpu in slow]
    return found, max(usual[gpu] for gpu in slow), middle


def last_comers(collectives: Sequence[Collective]) -> list[Guilty]:
    """Of each communicator the rank whose calls are steadily the shortest; at least three ranks must tell."""
    kinds: dict[tuple[str, str, int, int], list[Collective]] = {}
    for each in collectives:
        if each.rank and len(each.seconds) >= _CALLS and all(numbers.sane(value) for value in each.seconds):
            kinds.setdefault((each.group, each.name, each.size, each.ranks), []).append(each)
    looked: dict[str, int] = {}
    last: dict[str, list[Collective]] = {}
    for (communicator, *_unused), group in kinds.items():
        if 3 <= len({each.rank for each in group}) == len(group):
            looked[communicator] = looked.get(communicator, 0) + 1
            if comer := _last(group):
                last.setdefault(communicator, []).append(comer)
    found = []
    for communicator, comers in last.items():
        ranks = [each.rank for each in comers]
        best = max(comers, key=lambda each: ranks.count(each.rank))
        if 2 * ranks.count(best.rank) > looked[communicator]:
            found.append(Guilty(best.rank, best.host, (best.rank,)))
    return found


def _last(group: Sequence[Collective]) -> Collective | None:
    count = min(len(each.seconds) for each in group)
    found = None
    for each in group:
        others = [other for other in group if other is not each]
        shorter = sum(
            each.seconds[-count + call] <= _SHORTER * numbers.low([other.seconds[-count + call] for other in others])
            for call in range(count)
        )
        if shorter >= _STEADY * count:
            if found:
                return None
            found = each
    return found


def always_slowest(steps: Sequence[Step]) -> list[Guilty]:
    """The rank that the log itself calls the slowest of a part nearly always. By how much, it does not say."""
    for name in (COMPUTE, INPUT, HOST):
        named = [f"{step.slowest[name]:g}" for step in steps if name in step.slowest]
        if len(named) >= _STEPS:
            best = max(sorted(set(named)), key=named.count)
            if named.count(best) >= _SAME * len(named):
                return [Guilty(best, "", (best,), name, often=named.count(best) / len(named))]
    return []
