# SPDX-License-Identifier: GPL-3.0-or-later
"""A job by the times that somebody pasted: what it is bound by, who waits for whom, what to change. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Iterable

from .._ground.text import printable
from .._parse._nccl_watchdog import TIMED_OUT
from .._parse._times import COMMUNICATION, End, Times
from .._slow import advice, bound, compare, hung, words
from .._slow.kinds import CANNOT_TELL, POSSIBLE, STRAGGLER
from .._slow.settings import Settings

_CHANGES, _ENDS = 4, 3
_OF_RANK = re.compile(r"rank[-_.]{0,2}(\d{1,7})(?!\d)")
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
            (*found.ends, *times.ends),
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
        ends=tuple(replace(each, host=each.host or host) for each in times.ends),
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
    """Of the last run, held against the first where there are two; None where no text holds a time.

    The run of fewer ranks comes first, wherever both tell how many they are; else they are in the order of the files.
    """
    found = runs(_ranked(given))
    if not found:
        return None
    if len(found) == 1:
        return job(found[0][1], told)
    counts = [compare.count(times) for _label, times in found]
    if all(counts):
        found = [run for _count, run in sorted(zip(counts, found), key=lambda each: each[0])]
    last = job(found[-1][1], told)
    if last is None:
        return None
    first, second = found[0], found[-1]
    told_apart = compare.compared(first[1], second[1], names=(first[0], second[0]))
    between = [label for label, _times in found[1:-1]]
    left = (
        f"These are {len(found)} runs, for they have the same steps: {words.listed(between)} "
        f"{'is' if len(between) == 1 else 'are'} not used.",
    )
    waits = told_apart.grown and told_apart.grown[0].part == COMMUNICATION and last.kind == STRAGGLER
    waiting = ("Of that, what is waiting for a rank that is late is told below.",) if waits else ()
    because = (*told_apart.because, *waiting, *(left if between else ()), *last.because)
    return replace(last, head=f"{second[0]}: {last.head}", because=because)


def _ranked(given: Iterable[tuple[str, Times]]) -> list[tuple[str, Times]]:
    """Files of a rank each, which only their names tell: steps_rank3.csv."""
    found = list(given)
    nameless = [label for label, times in found if times.steps and _nameless(times)]
    ranks = {label: rank for label in nameless if (rank := rank_of(label))}
    if len(set(ranks.values())) < 2 or len(set(ranks.values())) < len(ranks):
        return found
    return [
        (label, replace(times, steps=tuple(replace(step, rank=ranks[label]) for step in times.steps)))
        if label in ranks and _nameless(times)
        else (label, times)
        for label, times in found
    ]


def rank_of(label: str) -> str:
    """The rank that a file's name tells, "" where it tells none."""
    found = _OF_RANK.search(label)
    return found.group(1) if found is not None else ""


def _nameless(times: Times) -> bool:
    return not any(step.rank for step in times.steps)


def job(times: Times, told: Settings | None = None) -> Job | None:
    """The answer; None where no text holds a time, nor an end. ``told``: the framework's settings."""
    if not (times.steps or times.collectives or times.waiting or times.busy or times.ends):
        return None
    # Whoever waited until its time was over ends without a reason of its own.
    timed = any(each.state == TIMED_OUT for each in times.waiting)
    if times.ends and not (timed and all(end.bare for end in times.ends)):
        return _ended(times, told)
    stuck = hung.hung(times) if times.waiting else None
    # Whoever is waited for is known only where somebody waits.
    waits = stuck.because if stuck is not None and stuck.groups else ()
    found = bound.judged(times, told)
    again = bool(waits) and not timed and hung.once(times.waiting)
    if (found.kind == CANNOT_TELL or timed) and waits and stuck is not None:
        late = words.ranks(stuck.guilty, stuck.hosts) if any(stuck.guilty) else ""
        quiet = words.ranks(stuck.groups[0].absent) if stuck.groups[0].absent and not late else ""
        whom = f": it waits for {late}" if late else f": nothing is told of {quiet}" if quiet else ""
        head = f"the job stands still{whom}"
        look = f"look at the log and the stack (py-spy dump) of {late or quiet}" if late or quiet else _ALL_WAIT
        before = () if found.kind == CANNOT_TELL else (f"Before that: {found.head}.",)
        missing = stuck.missing if late else ()
        return Job(head, before, (look,), waits, missing, stands=True, again=again, hosts=stuck.hosts)
    changes = advice.advised(times, found, told)
    return Job(
        found.head,
        (*found.because, *found.notes),
        tuple(change.words(short=at > 0) for at, change in enumerate(changes[:_CHANGES])),
        waits,
        found.missing,
        found.kind != CANNOT_TELL and found.sure != POSSIBLE,
        bool(found.guilty),
        found.kind,
        again=again,
        hosts=tuple(dict.fromkeys(guilty.host for guilty in found.guilty if guilty.host)),
    )


def _ended(times: Times, told: Settings | None) -> Job:
    """Of a job that failed: who failed first, before what is told of its speed; that the others waited follows."""
    named = [end for end in times.ends if end.rank] or list(times.ends)
    first = named[0]
    name = words.ranks([first.rank], [first.host]) if first.rank else f"host {first.host}" if first.host else "the job"
    fell = f"{words.capital(name)} failed first, by these texts: {printable(first.what)}."
    others = [f"{words.capital(_who(end))}: {printable(end.what)}." for end in times.ends if end != first]
    before = job(replace(times, ends=(), waiting=()), told) if times.steps else None
    look = f"look at the log of {name}, at the memory and the kernel's log of its host, and fix that first"
    return Job(
        f"the job ended: {name} failed",
        (f"Before that: {before.head}.",) if before is not None else (),
        (look, *(before.changes if before is not None else ())),
        (fell, *others[:_ENDS]),
        stands=True,
        hosts=(first.host,) if first.host else (),
    )


def _who(end: End) -> str:
    if end.rank:
        return words.ranks([end.rank], [end.host])
    return f"host {end.host}" if end.host else "a host that is not named"
