# SPDX-License-Identifier: GPL-3.0-or-later
"""A job's steps in order: which are its usual work, and which are warm-up or pauses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Iterable, Mapping

from .._parse._times import CHECKPOINT, PARTS, Step
from . import numbers
from .jumps import jump

# A step is out of line from 1.3 times the usual on, and only beyond six deviations of this job's own steps:
# a factor that no noise of 10 % reaches. Ours; first steps compile, tune and connect, and take many times as long.
_LONGER, _DEVIATIONS = 1.3, 6.0
_WARM = 20
_SHORTEST = 1e-9
# From ten minutes on, and so many times a usual step, it is no step: the longest of checkpoints and evaluations are
# shorter beside steps of that length.
_STOPPED, _STOPPED_TIMES = 600.0, 100.0
# More steps than this out of line are no exception: they are how the job works.
_MOST_PAUSES = 1 / 3
# A part is told where this share of the records has it.
_TOLD = 0.5

Row = Mapping[str, Step]


@dataclass(frozen=True)
class Pauses:
    """Steps out of line. ``steps``: their numbers. ``every``: the period in steps, 0 where there is none.
    ``factor``: how many times as long as others they take. ``share``: what they take more, of all time.
    ``part``: the part that grows in them, "" where no told part does."""

    steps: tuple[int, ...] = ()
    every: int = 0
    factor: float = 1.0
    share: float = 0.0
    part: str = ""


@dataclass(frozen=True)
class Series:
    """``rows``: every step but warm-up, by number, then rank. ``usual``: numbers of those that are no pause.
    ``seconds``: of each step, by number. ``warm``: how many first steps were left out. ``told``: parts. ``stops``: by
    number the seconds of steps in which the job stood; they are in no row. ``before``: the steps before a jump in
    their length, after which are all others."""

    rows: Mapping[int, Row] = field(default_factory=dict)
    usual: tuple[int, ...] = ()
    seconds: Mapping[int, float] = field(default_factory=dict)
    warm: int = 0
    pauses: Pauses = field(default_factory=Pauses)
    told: frozenset[str] = frozenset()
    hosts: Mapping[str, str] = field(default_factory=dict)
    stops: Mapping[int, float] = field(default_factory=dict)
    before: Series | None = None

    @property
    def ranks(self) -> tuple[str, ...]:
        return tuple(self.hosts)

    @property
    def typical(self) -> float:
        """Seconds of a usual step."""
        return numbers.median([self.seconds[number] for number in self.usual])

    @property
    def work(self) -> list[Row]:
        return [self.rows[number] for number in self.usual]


def series(steps: Iterable[Step]) -> Series:
    """In order of the steps' numbers; of two records of one rank and step the last is taken."""
    rows: dict[int, dict[str, Step]] = {}
    hosts: dict[str, str] = {}
    for step in steps:
        if numbers.sane(step.seconds) and step.seconds > _SHORTEST:
            rows.setdefault(step.step, {})[step.rank] = _clean(step)
            hosts[step.rank] = step.host or hosts.get(step.rank, "")
    if len(hosts) > 1 and "" in hosts:  # what the job as a whole tells stands beside what its ranks tell
        del hosts[""]
        rows = {number: own for number, row in rows.items() if (own := {r: s for r, s in row.items() if r})}
    seconds = {number: numbers.median([s.seconds for s in rows[number].values()]) for number in sorted(rows)}
    warm = _warm(list(seconds.values()))
    for number in list(seconds)[:warm]:
        del seconds[number], rows[number]
    stops = _stops(rows, seconds)
    for number in stops:
        del seconds[number], rows[number]
    told = _told([step for row in rows.values() for step in row.values()])
    at = jump(list(seconds.values()))
    first = {number: seconds[number] for number in list(seconds)[:at]}
    before = replace(_series(rows, first, told, hosts), warm=warm) if first else None
    later = {number: took for number, took in seconds.items() if number not in first}
    return replace(_series(rows, later, told, hosts), warm=warm, stops=stops, before=before)


def _series(
    rows: Mapping[int, Row], seconds: Mapping[int, float], told: frozenset[str], hosts: Mapping[str, str]
) -> Series:
    """Of these steps, pauses apart."""
    pauses = _pauses(rows, seconds, told)
    out = set(pauses.steps) if pauses.part in ("", CHECKPOINT) else set()
    usual = tuple(number for number in seconds if number not in out)
    return Series({number: rows[number] for number in seconds}, usual, seconds, 0, pauses, told, hosts)


def _stops(rows: Mapping[int, Row], seconds: Mapping[int, float]) -> dict[int, float]:
    """Steps that hold a time in which the job was stopped, queued again or suspended: no work of it takes so long, but
    for a checkpoint that a log tells of."""
    least = max(_STOPPED, _STOPPED_TIMES * numbers.median(list(seconds.values())))
    found = {
        number: took
        for number, took in seconds.items()
        if took >= least and 2 * _middle(rows[number], CHECKPOINT) < took
    }
    return found if len(found) <= _MOST_PAUSES * len(seconds) else {}


def part(step: Step, name: str) -> float:
    """Seconds of a part, 0 where it is not told."""
    return step.parts.get(name, 0.0)


def _clean(step: Step) -> Step:
    """Without parts that are no times."""
    if all(map(numbers.sane, step.parts.values())):
        return step
    return replace(step, parts={name: value for name, value in step.parts.items() if numbers.sane(value)})


def _limit(values: list[float]) -> float:
    middle = numbers.median(values)
    return max(_LONGER * middle, middle + _DEVIATIONS * numbers.spread(values))


def _warm(values: list[float]) -> int:
    """How many of the first steps are warm-up: up to the last of them that is out of line, if most before it are."""
    if len(values) < 3:
        return 0
    limit, count, out = _limit(values[len(values) // 3 :]), 0, 0
    for at, value in enumerate(values[: min(_WARM, len(values) // 3)]):
        if value > limit:
            out += 1
            if 2 * out > at + 1:
                count = at + 1
    return count


def _told(steps: list[Step]) -> frozenset[str]:
    least = _TOLD * len(steps)
    return frozenset(name for name in PARTS if steps and sum(name in step.parts for step in steps) >= least)


def _pauses(rows: Mapping[int, Row], seconds: Mapping[int, float], told: frozenset[str]) -> Pauses:
    if len(seconds) < 5:
        return Pauses()
    limit = _limit(list(seconds.values()))
    found = [number for number, value in seconds.items() if value > limit]
    if not found or len(found) > _MOST_PAUSES * len(seconds):
        return Pauses()
    others = [number for number in seconds if seconds[number] <= limit]
    usual = numbers.median([seconds[number] for number in others])
    more = sum(seconds[number] - usual for number in found)
    grown = {
        name: sum(_middle(rows[number], name) for number in found)
        - len(found) * numbers.median([_middle(rows[number], name) for number in others])
        for name in sorted(told | ({CHECKPOINT} if _has(rows, found, CHECKPOINT) else set()))
    }
    most = max(grown, key=lambda name: grown[name], default="")
    factor = numbers.median([seconds[number] for number in found]) / usual
    name = most if most and grown[most] >= 0.5 * more else ""
    return Pauses(tuple(found), numbers.period(found), factor, more / sum(seconds.values()), name)


def _middle(row: Row, name: str) -> float:
    """A part over the ranks; a checkpoint is often written by a few of them while the others wait."""
    values = [part(step, name) for step in row.values()]
    return max(values) if name == CHECKPOINT else numbers.median(values)


def _has(rows: Mapping[int, Row], found: list[int], name: str) -> bool:
    return any(name in step.parts for number in found for step in rows[number].values())
