# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks and hosts that the others wait for.

A rank's own time is what it needs itself: computation, input, host, optimizer. In a synchronous job all
ranks' steps are equally long, and whoever has most of its own waits least: the others' communication is
longer by as much. So a straggler is told by its own time and by the others' waiting, over many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Optional, Sequence

from .._parse._times import CHECKPOINT, COMMUNICATION, COMPUTE, HOST, IDLE, INPUT, OPTIMIZER, Step
from . import numbers, words
from .series import Row, Series, part

OWN = (COMPUTE, INPUT, HOST, OPTIMIZER)
# Own time beyond the others', as a share of a step, that is worth a name. Ours: GPUs of one kind differ by two or
# three percent anyway, and rank 0 writes logs. nvidia-resiliency-ext calls a GPU slow at 70 % of the others' speed.
EFFECT = 0.08
# In so many of the steps it is the longer.
_STEADY = 0.75
# Beyond so many deviations of the ranks' own differences, where there are enough ranks to know them.
_APART, _ENOUGH = 4.0, 5
_LEAST_STEPS = 5
_TRACED = 3
# Of five steps, errors are taken as half as wide again.
_WIDER = 2.5
_FEW_RANKS = 8
# Waiting of the others, as a share of what the straggler takes more.
_WAITED = 0.4
# Now and then: a step counts from this share of a step and so many deviations on. Three of them need a period; what
# has none may be chance until there are five.
_HIT, _HIT_DEVIATIONS, _HITS, _NO_PERIOD = 0.15, 6.0, 3, 5
# It sums up to so many times as much as of other ranks.
_TIMES = 4.0
# And on the average of all steps it is late by this share of a step.
_ON_AVERAGE = 0.02
# Beside one that is late, others are named that are late by this share of it.
_BESIDE = 0.4
# More ranks than this share are no stragglers: the work is unevenly split.
_FEW = 0.25

Value = Callable[[Step], Optional[float]]
Grid = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Guilty:
    """``rank``: "" where the whole host is. ``part``: which of its own parts is longer, "" where not told.
    ``more``: seconds of a step (of those steps in which it is late) beyond the others'. ``often``: share of
    the steps. ``every``: the period in steps of one that is late now and then. ``waited``: seconds that the
    others wait for it, None where no log tells. ``gpu``: where only that is known."""

    rank: str = ""
    host: str = ""
    ranks: tuple[str, ...] = ()
    part: str = ""
    more: float = 0.0
    often: float = 1.0
    every: int = 0
    now_and_then: bool = False
    waited: float | None = None
    gpu: int = -1

    @property
    def name(self) -> str:
        """ "rank 3 (node1)", "host node1", "GPU 3 (node1)", "GPU 3"."""
        if self.rank:
            return words.ranks([self.rank], [self.host])
        if self.gpu >= 0:
            return f"GPU {self.gpu} ({self.host})" if self.host else f"GPU {self.gpu}"
        return f"host {self.host}" if self.host else "a rank that no text names"


@dataclass(frozen=True)
class Stragglers:
    """``gain``: how much shorter a step would be without them, a share. ``basis``: what was compared.
    ``uneven``: many ranks differ, no few of them. ``hits``: steps in which one was late, of now and then."""

    guilty: tuple[Guilty, ...] = ()
    gain: float = 0.0
    basis: str = ""
    uneven: tuple[str, ...] = ()
    hits: tuple[int, ...] = ()


def stragglers(found: Series) -> Stragglers:
    """Steady ones, of ranks or of hosts, whichever explains more; else those that are late now and then."""
    if len(found.ranks) < 2:
        return Stragglers()
    seen = Stragglers()
    for basis, value in _bases(found):
        grid = _grid(found.work, value)
        seen = _steady(found, grid, basis)
        hosts = _of_hosts(found, grid, basis)
        if hosts.guilty and hosts.gain > seen.gain:
            seen = hosts
        if not seen.guilty and not seen.uneven:
            seen = _now_and_then(found, _grid(list(found.rows.values()), value), value, basis)
        if seen.guilty or seen.uneven:
            break
    return seen


def _bases(found: Series) -> list[tuple[str, Value]]:
    """What is compared, the best first. ``_less`` holds all that is not communication, told or not."""
    told = [name for name in OWN if name in found.told]
    bases: list[tuple[str, Value]] = []
    if COMMUNICATION in found.told:
        bases.append(("time outside of communication", _less))
    if told:
        bases.append((f"{words.listed(told)} time", lambda step: _sum(step, told)))
    return bases or [("total time", lambda step: step.seconds)]


def _less(step: Step) -> float | None:
    if COMMUNICATION not in step.parts:
        return None
    return max(0.0, step.seconds - part(step, COMMUNICATION) - part(step, CHECKPOINT))


def _sum(step: Step, names: Sequence[str]) -> float | None:
    return sum(part(step, name) for name in names) if any(name in step.parts for name in names) else None


def _grid(rows: Sequence[Row], value: Value) -> list[dict[str, float]]:
    grid = []
    for row in rows:
        values = {rank: own for rank, step in row.items() if (own := value(step)) is not None}
        if len(values) > 1:
            grid.append(values)
    # Of few ranks, a lost record moves the middle: steps of which all ranks tell are taken, where there are enough.
    most = max((len(values) for values in grid), default=0)
    whole = [values for values in grid if len(values) == most]
    return whole if most <= _FEW_RANKS and len(whole) >= 2 * _LEAST_STEPS else grid


def _excess(grid: Grid) -> dict[str, list[float]]:
    """By rank: in each step, its own time beyond the others'."""
    found: dict[str, list[float]] = {}
    for values in grid:
        middle = numbers.low(list(values.values()))
        for rank, own in values.items():
            found.setdefault(rank, []).append(own - middle)
    return found


def _late(grid: Grid, scale: float) -> list[str]:
    """Who is longer than the others, steadily and by more than chance gives."""
    excess = {rank: values for rank, values in _excess(grid).items() if len(values) >= _LEAST_STEPS}
    if len(excess) < 2 or scale <= 0:
        return []
    middles = {rank: numbers.median(values) for rank, values in excess.items()}
    noise = numbers.low([numbers.spread(values) for values in excess.values()])
    errors = numbers.needed(len(excess))
    late = [
        rank
        for rank, values in excess.items()
        if middles[rank] >= max(EFFECT * scale, errors * _unsure(len(values)) * numbers.error(noise, len(values)))
        and sum(value > 0 for value in values) >= _STEADY * len(values)
    ]
    if 2 * len(late) > len(excess):
        return []
    if len(excess) < _ENOUGH:
        return late
    # Ranks differ among themselves, for all the steps: what is late stands out of the others' own differences.
    others = [value for rank, value in middles.items() if rank not in late]
    least = numbers.median(others) + max(_APART, errors) * numbers.spread(others)
    return [rank for rank in late if middles[rank] >= least]


def _unsure(count: int) -> float:
    """How much wider an error is whose deviation is known by so few steps only."""
    return 1 + _WIDER / count


def _gain(grid: Grid, late: set[str], seconds: float) -> float:
    """How much shorter the steps would be if the late took no longer than the longest of the others."""
    saved = 0.0
    for values in grid:
        others = [own for rank, own in values.items() if rank not in late]
        if others:
            saved += max(0.0, max(values.values()) - max(others))
    return saved / seconds if seconds > 0 else 0.0


def _waited(rows: Sequence[Row], rank: str, late: set[str]) -> float | None:
    """How much longer the others' communication is than its own: the median over steps; None where not told."""
    found = []
    for row in rows:
        others = [part(step, COMMUNICATION) for name, step in row.items() if name not in late]
        if others and rank in row and COMMUNICATION in row[rank].parts:
            found.append(numbers.low(others) - part(row[rank], COMMUNICATION))
    return numbers.median(found) if found else None


def _steady(found: Series, grid: Grid, basis: str) -> Stragglers:
    late = _late(grid, found.typical)
    if not late:
        return Stragglers()
    total = sum(found.seconds[number] for number in found.usual)
    if _too_many(found, late):
        return Stragglers(gain=_gain(grid, set(late), total), uneven=tuple(late), basis=basis)
    excess, marked, guilty = _excess(grid), set(late), []
    for rank in late:
        more = numbers.median(excess[rank])
        waited = _waited(found.work, rank, marked) if COMMUNICATION in found.told else None
        if waited is None or waited >= _WAITED * more:
            often = sum(own > 0 for own in excess[rank]) / len(excess[rank])
            guilty.append(_named(found, found.work, rank, more, often, waited))
    guilty = _largest(guilty)
    gain = _gain(grid, {each.rank for each in guilty}, total) if guilty else 0.0
    return Stragglers(_by_host(found, guilty), gain, basis)


def _now_and_then(found: Series, grid: Grid, value: Value, basis: str) -> Stragglers:
    """Who is late in some steps, in which the others are not."""
    excess = _excess(grid)
    if len(grid) < 2 * _LEAST_STEPS or not excess:
        return Stragglers()
    noise = numbers.low([numbers.spread(values) for values in excess.values()])
    limit = max(_HIT * found.typical, _HIT_DEVIATIONS * noise)
    hits: dict[str, list[int]] = {}
    total = dict.fromkeys(excess, 0.0)
    for number, row in found.rows.items():
        values = {rank: own for rank, step in row.items() if (own := value(step)) is not None}
        if len(values) > 1:
            middle = numbers.low(list(values.values()))
            for rank, own in values.items():
                if own - middle > limit:
                    hits.setdefault(rank, []).append(number)
                    total[rank] = total.get(rank, 0.0) + own - middle
    usual = numbers.low(list(total.values()))
    late = [rank for rank, own in hits.items() if len(own) >= _HITS and total[rank] >= _TIMES * usual]
    marked, guilty = set(late), []
    for rank in late:
        rows = [found.rows[number] for number in hits[rank]]
        more = numbers.median([_beyond(row, rank, value) for row in rows])
        waited = _waited(rows, rank, marked) if COMMUNICATION in found.told else None
        if waited is None or waited >= _WAITED * more:
            often = len(hits[rank]) / len(found.rows)
            every = numbers.period(hits[rank])
            if not every and len(hits[rank]) < _NO_PERIOD:
                continue
            guilty.append(_named(found, rows, rank, more, often, waited, every, True))
    guilty = [each for each in _largest(guilty) if each.more * each.often >= _ON_AVERAGE * found.typical]
    if not guilty or _too_many(found, [each.rank for each in guilty]):
        return Stragglers()
    marked = {each.rank for each in guilty}
    steps = sorted({number for rank in marked for number in hits[rank]})
    gain = _gain(_grid([found.rows[n] for n in steps], value), marked, sum(found.seconds.values()))
    return Stragglers(_by_host(found, guilty), gain, basis, hits=tuple(steps))


def _largest(guilty: Sequence[Guilty]) -> list[Guilty]:
    """Those that matter while the worst is there; what it hides shows once it is gone."""
    most = max((each.more * each.often for each in guilty), default=0.0)
    return [each for each in guilty if each.more * each.often >= _BESIDE * most]


def _of_hosts(found: Series, grid: Grid, basis: str) -> Stragglers:
    """Hosts whose ranks are late together, also where each of them alone does not stand out."""
    members = _members(found)
    if len(members) < 2 or min(len(ranks) for ranks in members.values()) < 2:
        return Stragglers()
    hosts = []
    beyond: dict[str, list[float]] = {}
    for values in grid:
        own: dict[str, list[float]] = {}
        for rank, seconds in values.items():
            own.setdefault(found.hosts[rank], []).append(seconds)
        if len(own) > 1:
            hosts.append({host: numbers.median(seconds) for host, seconds in own.items()})
            middle = numbers.low(list(hosts[-1].values()))
            for rank, alone in values.items():
                beyond.setdefault(rank, []).append(alone - middle)
    late = _late(hosts, found.typical)
    if not late or len(late) > max(1, _FEW * len(members)):
        return Stragglers()
    marked = {rank for host in late for rank in members[host]}
    excess, guilty = _excess(hosts), []
    for host in late:
        more = numbers.median(excess[host])
        if sum(numbers.median(beyond.get(rank, [])) >= 0.5 * more for rank in members[host]) < 0.8 * len(members[host]):
            continue  # a rank or two of it are late, and not the host
        often = sum(seconds > 0 for seconds in excess[host]) / len(excess[host])
        told = [_waited(found.work, rank, marked) for rank in members[host]] if COMMUNICATION in found.told else []
        waits = [seconds for seconds in told if seconds is not None]
        waited = numbers.median(waits) if waits else None
        if waited is None or waited >= _WAITED * more:
            grown = _grown(found.work, members[host], more)
            guilty.append(Guilty("", host, tuple(members[host]), grown, more, often, waited=waited))
    if not guilty:
        return Stragglers()
    marked = {rank for each in guilty for rank in each.ranks}
    gain = _gain(grid, marked, sum(found.seconds[number] for number in found.usual))
    return Stragglers(tuple(guilty), gain, basis)


def _too_many(found: Series, late: Sequence[str]) -> bool:
    """More than a few ranks, that are not just the ranks of few hosts."""
    if len(late) <= max(2, _FEW * len(found.ranks)):
        return False
    members = _members(found)
    whole = {found.hosts[rank] for rank in late}
    few = "" not in whole and len(whole) <= max(1, _FEW * len(members))
    return not (few and len(late) >= 0.8 * sum(len(members[host]) for host in whole))


def _members(found: Series) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for rank, host in found.hosts.items():
        members.setdefault(host, []).append(rank)
    return {} if "" in members else members


def _beyond(row: Row, rank: str, value: Value) -> float:
    own = {name: seconds for name, step in row.items() if (seconds := value(step)) is not None}
    return own[rank] - numbers.low(list(own.values()))


def _named(
    found: Series,
    rows: Sequence[Row],
    rank: str,
    more: float,
    often: float,
    waited: float | None,
    every: int = 0,
    now_and_then: bool = False,
) -> Guilty:
    grown = _grown(rows, [rank], more)
    return Guilty(rank, found.hosts[rank], (rank,), grown, more, often, every, now_and_then, waited)


def _grown(rows: Sequence[Row], ranks: Sequence[str], more: float) -> str:
    """Which of its own parts is longer than the others': the one that makes most of it.

    A trace tells the GPU's standing still apart, which a job's own timer of computation may hold: it goes before.
    """
    traced = [row for row in rows if any(IDLE in row[rank].parts for rank in ranks if rank in row)]
    rows = traced if len(traced) >= _TRACED else rows
    grown = {}
    for name in (*OWN, IDLE):
        found = []
        for row in rows:
            values = [part(step, name) for step in row.values() if name in step.parts]
            mine = [part(row[rank], name) for rank in ranks if rank in row and name in row[rank].parts]
            if mine and len(values) > len(mine):
                found.append(numbers.median(mine) - numbers.low(values))
        if found:
            grown[name] = numbers.median(found)
    best = max(grown, key=lambda name: grown[name], default="")
    best = best if best and grown[best] >= 0.4 * more else ""
    return HOST if best == IDLE else best


def _by_host(found: Series, guilty: Sequence[Guilty]) -> tuple[Guilty, ...]:
    """The ranks, and in place of (nearly) all of a host's ranks the host."""
    members, left, hosts = _members(found), list(guilty), []
    for host, ranks in members.items():
        own = [each for each in left if each.host == host]
        if len(ranks) > 1 and len(members) > 1 and len(own) >= 0.8 * len(ranks):
            left = [each for each in left if each.host != host]
            parts = [each.part for each in own]
            waits = [each.waited for each in own if each.waited is not None]
            hosts.append(
                Guilty(
                    "",
                    host,
                    tuple(sorted((each.rank for each in own), key=words.order)),
                    max(sorted(set(parts)), key=parts.count),
                    numbers.median([each.more for each in own]),
                    numbers.median([each.often for each in own]),
                    max(each.every for each in own),
                    own[0].now_and_then,
                    numbers.median(waits) if waits else None,
                )
            )
    return (*hosts, *sorted(left, key=lambda each: -each.more))
