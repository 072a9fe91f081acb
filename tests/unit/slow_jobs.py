# SPDX-License-Identifier: GPL-3.0-or-later
"""Synthetic jobs of a known bottleneck. Made up, nothing was recorded.

The model of a step: every rank computes, loads, and is kept by its host (its own time); the last of them
starts the transfer, the others wait for it in communication. So all ranks' steps are equally long.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import (
    CHECKPOINT,
    COMMUNICATION,
    COMPUTE,
    HOST,
    IDLE,
    INPUT,
    OPTIMIZER,
    Busy,
    Step,
    Times,
)
from ansible_collections.ibready.cluster.plugins.module_utils._slow import kinds

OWN = (COMPUTE, INPUT, HOST, OPTIMIZER)
# What the texts tell of it.
ALL, GAPS, NO_HOSTS, NETWORK, OWN_ONLY, TOTALS, ONE_RANK, JOB = (
    "all parts of all ranks",
    "one record in ten is lost",
    "no names of hosts",
    "communication alone",
    "all but communication",
    "totals",
    "one rank",
    "the job as a whole",
)
FULL = (ALL, ALL, ALL, GAPS, NO_HOSTS)
PARTLY = (NETWORK, OWN_ONLY, TOTALS, ONE_RANK, JOB)
BOTTLENECKS = ("communication", "computation", "input", "host", "rank", "two ranks", "whole host", "now and then")
LATE = BOTTLENECKS[4:]


@dataclass(frozen=True)
class Job:
    """``right``: the kinds that are right to say by what is told. ``ranks``: the guilty. ``host``: the guilty
    host. ``every``: the period of one that is late now and then."""

    seed: int
    bottleneck: str
    told: str
    times: Times
    right: frozenset[str]
    ranks: frozenset[str] = frozenset()
    host: str = ""
    every: int = 0


@dataclass
class Plan:
    """Shares of a usual step; ``transfer`` is the network's. ``noise``: deviation of each part, a share."""

    ranks: int = 8
    per_host: int = 4
    steps: int = 50
    second: float = 1.0
    noise: float = 0.03
    parts: dict[str, float] = field(default_factory=lambda: {COMPUTE: 0.8, INPUT: 0.02, HOST: 0.04, OPTIMIZER: 0.04})
    transfer: float = 0.1
    more: Mapping[str, float] = field(default_factory=dict)  # by rank, a share of a step
    part: str = COMPUTE
    every: int = 1
    warm: int = 0
    checkpoint: int = 0
    pause: float = 0.0
    lottery: float = 0.01  # deviation of the ranks' own speed, a share: GPUs of one kind differ
    lengths: float = 0.0  # deviation of the work of a step, the same for all ranks
    spikes: float = 0.0  # share of the ranks' steps in which something disturbs one of them
    clock: float = 0.0  # deviation of what is told of communication, a share of it
    drift: float = 0.0  # how much longer the last step is, a share
    writer: float = 0.0  # what rank 0 does more, a share of a step: it logs


def host_of(plan: Plan, rank: int) -> str:
    return f"node{rank // plan.per_host + 1}"


def steps(plan: Plan, rng: random.Random) -> list[Step]:
    """Every rank's record of every step."""
    own_speed = {rank: max(0.9, rng.gauss(1, plan.lottery)) for rank in range(plan.ranks)}
    found = []
    for number in range(1, plan.steps + 1):
        slower = 1 + 12 * rng.random() / number if number <= plan.warm else 1.0
        pause = plan.pause if plan.checkpoint and number % plan.checkpoint == 0 else 0.0
        slower *= max(0.5, rng.gauss(1, plan.lengths)) * (1 + plan.drift * number / plan.steps)
        rows = []
        for rank in range(plan.ranks):
            parts = {
                name: plan.second * share * slower * own_speed[rank] * max(0.2, rng.gauss(1, plan.noise))
                for name, share in plan.parts.items()
            }
            if str(rank) in plan.more and number % plan.every == 0:
                parts[plan.part] += plan.second * plan.more[str(rank)] * max(0.5, rng.gauss(1, plan.noise))
            if rng.random() < plan.spikes:
                name = rng.choice(OWN)
                parts[name] = parts.get(name, 0.0) + plan.second * rng.uniform(0.1, 0.6)
            if rank == 0:
                parts[HOST] = parts.get(HOST, 0.0) + plan.second * plan.writer
            if pause:
                parts[CHECKPOINT] = plan.second * pause * max(0.5, rng.gauss(1, plan.noise))
            rows.append((rank, parts, sum(parts.values())))
        ready = max(own for _, _, own in rows)
        transfer = plan.second * plan.transfer * max(0.2, rng.gauss(1, plan.noise))
        for rank, parts, own in rows:
            parts[COMMUNICATION] = (ready - own + transfer) * max(0.5, rng.gauss(1, plan.clock))
            seconds = (ready + transfer) * rng.gauss(1, 0.0005)
            found.append(Step(number, seconds, str(rank), host_of(plan, rank), parts))
    return found


def job(seed: int, bottleneck: str = "", told: str = "") -> Job:
    """A job drawn by its seed."""
    rng = random.Random(seed)
    bottleneck = bottleneck or BOTTLENECKS[seed % len(BOTTLENECKS)]
    told = told or rng.choice(FULL if rng.random() < 0.7 else PARTLY)
    plan = _plan(rng, bottleneck)
    guilty = frozenset(plan.more)
    host = host_of(plan, int(min(guilty, key=int))) if bottleneck == "whole host" else ""
    records = _told(steps(plan, rng), told, rng, guilty)
    if told == NO_HOSTS:
        host = ""
    busy = _busy(plan, bottleneck, rng) if told in (OWN_ONLY, TOTALS) and rng.random() < 0.5 else ()
    every = plan.every if plan.every > 1 else 0
    return Job(seed, bottleneck, told, Times(tuple(records), busy=busy), _right(bottleneck, told), guilty, host, every)


def healthy(seed: int) -> Job:
    """No part is late and none but computation large; noise up to 8 %, up to 256 ranks."""
    return job(seed, "computation", random.Random(seed + 1).choice(FULL))


def _plan(rng: random.Random, bottleneck: str) -> Plan:
    ranks = rng.choice((4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 64, 128, 256))
    plan = Plan(ranks, rng.choice((2, 4, 8)) if ranks > 8 else rng.choice((1, 2)))
    plan.steps = rng.randint(20, max(20, min(200, 1400 // ranks)))
    plan.second = 10 ** rng.uniform(-1, 1)
    plan.noise = rng.uniform(0.01, 0.08)
    plan.transfer = rng.uniform(0.03, 0.12)
    small = {INPUT: rng.uniform(0, 0.04), HOST: rng.uniform(0.01, 0.06), OPTIMIZER: rng.uniform(0.02, 0.05)}
    if bottleneck == "communication":
        plan.transfer = rng.uniform(0.32, 0.65)
    elif bottleneck == "input":
        small[INPUT] = rng.uniform(0.32, 0.65)
    elif bottleneck == "host":
        small[rng.choice((HOST, IDLE))] = rng.uniform(0.32, 0.6)
    plan.parts = {COMPUTE: 1 - plan.transfer - sum(small.values()), **small}
    late: list[int] = []
    if bottleneck in ("rank", "now and then"):
        late = [rng.randrange(ranks)]
    elif bottleneck == "two ranks":
        late = rng.sample(range(ranks), 2)
    elif bottleneck == "whole host":
        plan.per_host = max(2, plan.per_host)
        first = plan.per_host * rng.randrange(ranks // plan.per_host)
        late = list(range(first, first + plan.per_host))
    # Of many ranks, the last is late by noise alone: a bottleneck is what is later than that.
    least = max(0.15, plan.noise * (1 + math.sqrt(2 * math.log(ranks))))
    more = rng.uniform(least, 0.9)
    if bottleneck == "now and then":
        plan.every = rng.randint(2, max(2, min(10, plan.steps // 6)))
        more = rng.uniform(0.6, 1.5) * (1 + plan.every / 10)
    plan.more = {str(rank): more * rng.uniform(0.9, 1.1) for rank in late}
    plan.part = rng.choice((COMPUTE, INPUT, HOST))
    plan.warm = rng.choice((0, 1, 2, 4))
    plan.lottery = rng.uniform(0, 0.02)
    plan.lengths = rng.choice((0, 0, rng.uniform(0, 0.1)))
    plan.spikes = rng.choice((0, rng.uniform(0, 0.2) / ranks))
    plan.clock = rng.uniform(0, 0.05)
    plan.drift = rng.choice((0, 0, 0, rng.uniform(0, 0.3)))
    plan.writer = rng.uniform(0, 0.03)
    if rng.random() < 0.4 and bottleneck != "now and then":
        plan.checkpoint, plan.pause = rng.randint(8, 12), rng.uniform(0.8, 1.5)
    return plan


def _told(records: list[Step], told: str, rng: random.Random, guilty: frozenset[str]) -> list[Step]:
    def only(step: Step, *names: str) -> Step:
        return Step(step.step, step.seconds, step.rank, step.host, {n: s for n, s in step.parts.items() if n in names})

    if told == GAPS:
        return [step for step in records if rng.random() > 0.1]
    if told == NO_HOSTS:
        return [Step(step.step, step.seconds, step.rank, "", step.parts) for step in records]
    if told == NETWORK:
        return [only(step, COMMUNICATION) for step in records]
    if told == OWN_ONLY:
        return [only(step, *OWN, IDLE) for step in records]
    if told == TOTALS:
        return [only(step) for step in records]
    shown = next(step.rank for step in records if step.rank not in guilty)
    if told == ONE_RANK:
        return [step for step in records if step.rank == shown]
    if told == JOB:
        return [Step(step.step, step.seconds, "", "", step.parts) for step in records if step.rank == shown]
    return records


def _busy(plan: Plan, bottleneck: str, rng: random.Random) -> tuple[Busy, ...]:
    share = 100 * sum(plan.parts.get(name, 0) for name in (INPUT, HOST, IDLE))
    return tuple(
        Busy(host_of(plan, rank), rank % plan.per_host, min(100.0, max(0.0, 99 - share + rng.gauss(0, 1))))
        for rank in range(min(plan.ranks, 16))
        for _ in range(5)
    )


def _right(bottleneck: str, told: str) -> frozenset[str]:
    """What may be said; where too little is told, only that."""
    late = bottleneck in LATE
    kind = kinds.STRAGGLER if late else bottleneck
    if told == NETWORK and not late and kind != kinds.COMMUNICATION_BOUND:
        return frozenset({kinds.CANNOT_TELL})
    if told == OWN_ONLY and kind == kinds.COMMUNICATION_BOUND:
        return frozenset({kind, kinds.CANNOT_TELL})
    if told == TOTALS:
        return frozenset({kinds.CANNOT_TELL, kinds.PAUSED} if bottleneck == "now and then" else {kinds.CANNOT_TELL})
    if told in (ONE_RANK, JOB) and late:
        # From one rank that waits, the wait looks like communication: possible, and no more than that.
        return frozenset({kinds.COMMUNICATION_BOUND, kinds.COMPUTATION, kinds.CANNOT_TELL, kinds.PAUSED})
    if told == NO_HOSTS and bottleneck == "whole host":
        return frozenset({kind, kinds.UNEVEN})  # up to half of the ranks, and nothing that they share
    return frozenset({kind})


def synced(seed: int, bottleneck: str) -> tuple[Times, str]:
    """A job of another picture: ranks of a tensor group meet in every pass, all of them at the end of a step; work is
    spread unevenly, and data comes in bursts. With it the rank that is late, "" where none is."""
    rng = random.Random(seed)
    ranks, passes, group = rng.choice((8, 16, 32)), rng.choice((2, 4, 8)), rng.choice((1, 2, 4))
    late, more = (rng.randrange(ranks), rng.uniform(0.2, 0.6)) if bottleneck == kinds.STRAGGLER else (-1, 0.0)
    transfer = 0.8 if bottleneck == kinds.COMMUNICATION_BOUND else 0.06
    found = []
    for number in range(rng.randint(20, 40)):
        clock = [0.0] * ranks
        parts: list[dict[str, float]] = [{COMPUTE: 0.0, COMMUNICATION: 0.0, INPUT: 0.0} for _ in range(ranks)]
        for _ in range(passes):
            burst = 0.15 if rng.random() < 0.05 else 0.005
            for rank in range(ranks):
                work = rng.lognormvariate(0, 0.06) * (1 + more * (rank == late)) / passes
                data = 0.6 * rng.lognormvariate(0, 0.3) if bottleneck == kinds.INPUT else burst * rng.random()
                parts[rank][COMPUTE] += work
                parts[rank][INPUT] += data / passes
                clock[rank] += work + data / passes
            for first in range(0, ranks, group):
                meet = max(clock[first : first + group])
                for rank in range(first, first + group):
                    parts[rank][COMMUNICATION] += meet - clock[rank]
                    clock[rank] = meet
        end = max(clock) + transfer * rng.lognormvariate(0, 0.1)
        for rank in range(ranks):
            parts[rank][COMMUNICATION] += end - clock[rank]
            found.append(Step(number, end + 0.02, str(rank), f"node{rank // 8 + 1}", parts[rank]))
    return Times(tuple(found)), str(late) if late >= 0 else ""
