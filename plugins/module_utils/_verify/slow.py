# SPDX-License-Identifier: GPL-3.0-or-later
"""A job by the times that somebody pasted: what it is bound by, who waits for whom, what to change. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import Iterable

from .._parse._nccl_watchdog import TIMED_OUT
from .._parse._times import Times
from .._slow import advice, bound, compare, hung
from .._slow.kinds import CANNOT_TELL, POSSIBLE
from .._slow.settings import Settings

_CHANGES = 4
_ALL_WAIT = "look for what is wrong between the hosts (playbooks/diagnose.yml), and at the kernel's log of each"


@dataclass(frozen=True)
class Job:
    """``head``: the answer in a line. ``because``: the numbers behind it. ``changes``: what to change and
    what it buys. ``stuck``: who waits for whom, where somebody does. ``missing``: what to switch on.
    ``known``: whether the texts tell what it is bound by; ``late``: whether others wait for some ranks. ``kind``: a
    word of kinds.KINDS. ``stands``: whether it stands still; ``again``: whether only another look can tell, as the
    job may run. ``hosts``: of those that the others wait for."""

    head: str
    because: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    known: bool = False
    late: bool = False
    kind: str = CANNOT_TELL
    stands: bool = False
    again: bool = False
    hosts: tuple[str, ...] = ()


def runs(given: Iterable[tuple[str, Times]]) -> list[tuple[str, Times]]:
    """The runs that the files are of, each with its first file: the same step of the same rank twice is another run."""
    found: list[_Run] = []
    for label, times in given:
        mine = {(step.rank, step.host, step.step) for step in times.steps}
        # A file's own run; a text without steps, as a recorder's, is of the last one.
        home = next((run for run in found if label in run.labels), None)
        if home is None and found:
            home = next((run for run in found if not mine & run.steps), None) if mine else found[-1]
        if home is None:
            home = _Run(label)
            found.append(home)
        home.labels.add(label)
        home.held.append(times)
        home.steps |= mine
    return [(run.first, joined(run.held)) for run in found]


@dataclass
class _Run:
    """Files of one run, by the ``first`` of them."""

    first: str
    labels: set[str] = field(default_factory=set)
    held: list[Times] = field(default_factory=list)
    steps: set[tuple[str, str, int]] = field(default_factory=set)


def joined(every: Iterable[Times]) -> Times:
    """Several texts' times as one job's."""
    found = Times()
    for times in every:
        found = Times(
            (*found.steps, *times.steps),
            (*found.collectives, *times.collectives),
            (*found.waiting, *times.waiting),
            (*found.busy, *times.busy),
            {**times.settings, **found.settings},
        )
    return found


def on(host: str, times: Times) -> Times:
    """The same, where no line says on which host."""
    if not host:
        return times
    return replace(
        times,
        steps=tuple(replace(step, host=step.host or host) for step in times.steps),
        collectives=tuple(replace(call, host=call.host or host) for call in times.collectives),
        waiting=tuple(replace(each, host=each.host or host) for each in times.waiting),
        busy=tuple(replace(each, host=each.host or host) for each in times.busy),
    )


def said(times: Times) -> str:
    """What the times of a text are, in a line."""
    if times.steps:
        usual = median(step.seconds for step in times.steps)
        ranks = len({step.rank for step in times.steps if step.rank})
        of = f" of {ranks} ranks" if ranks > 1 else ""
        return f"{len(times.steps)} steps{of}, {usual:.3g} s each"
    if times.waiting:
        return f"the last operation of {len({each.rank for each in times.waiting})} ranks"
    if times.collectives:
        return f"times of {len(times.collectives)} kinds of collective operations"
    return f"how busy {len({(each.host, each.gpu) for each in times.busy})} GPUs were" if times.busy else ""


def answer(given: Iterable[tuple[str, Times]], told: Settings | None = None) -> Job | None:
    """Of the last run, held against the first where there are two; None where no text holds a time."""
    found = runs(given)
    if not found:
        return None
    last = job(found[-1][1], told)
    if last is None or len(found) == 1:
        return last
    first, second = found[0], found[-1]
    told_apart = compare.compared(first[1], second[1], names=(first[0], second[0]))
    return replace(last, head=f"{second[0]}: {last.head}", because=(*told_apart.because, *last.because))


def job(times: Times, told: Settings | None = None) -> Job | None:
    """The answer; None where no text holds a time. ``told``: the framework's settings."""
    if not (times.steps or times.collectives or times.waiting or times.busy):
        return None
    stuck = hung.hung(times) if times.waiting else None
    # Whoever is waited for is known only where somebody waits.
    waits = stuck.because if stuck is not None and stuck.groups else ()
    found = bound.judged(times)
    ended = any(each.state == TIMED_OUT for each in times.waiting)
    again = bool(waits) and not ended and hung.once(times.waiting)
    if (found.kind == CANNOT_TELL or ended) and waits and stuck is not None:
        late = ", ".join(f"rank {rank}" for rank in stuck.guilty if rank)
        head = f"the job stands still: it waits for {late}" if late else "the job stands still"
        look = f"look at the log and the stack (py-spy dump) of {late}" if late else _ALL_WAIT
        before = () if found.kind == CANNOT_TELL else (f"Before that: {found.head}.",)
        missing = stuck.missing if late else ()
        return Job(head, before, (look,), waits, missing, stands=True, again=again, hosts=stuck.hosts)
    changes = advice.advised(times, found, told)
    return Job(
        found.head,
        (*found.because, *found.notes),
        tuple(change.words() for change in changes[:_CHANGES]),
        waits,
        found.missing,
        found.kind != CANNOT_TELL and found.sure != POSSIBLE,
        bool(found.guilty),
        found.kind,
        again=again,
        hosts=tuple(dict.fromkeys(guilty.host for guilty in found.guilty if guilty.host)),
    )
