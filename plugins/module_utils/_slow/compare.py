# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs side by side: a node against many nodes, or one thing switched."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._parse._times import Times
from . import numbers, words
from .series import Series, series
from .settings import of
from .shares import shares

WEAK, STRONG = "each rank has the same work", "all ranks share the same work"
# Three errors of two medians: by chance in a pair of three hundred.
_ERRORS = 3.0
# A part grew that is told on both sides and makes a twentieth of the difference.
_WORTH = 0.05


@dataclass(frozen=True)
class Grown:
    """``seconds``: what the part takes more of a step in the second run. ``share``: of all that is longer."""

    part: str
    before: float
    after: float
    share: float

    @property
    def seconds(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Compared:
    """``before``, ``after``: seconds of a usual step. ``ranks_before``, ``ranks_after``: how many took part.
    ``differs``: more than their noise. ``scaling``: WEAK, STRONG, "" where no setting tells which.
    ``efficiency``: of the second against the first, 1 is as good for each rank; None where it cannot be told."""

    before: float = 0.0
    after: float = 0.0
    ranks_before: int = 0
    ranks_after: int = 0
    differs: bool = False
    scaling: str = ""
    efficiency: float | None = None
    grown: tuple[Grown, ...] = ()
    because: tuple[str, ...] = ()


def compared(
    first: Times, second: Times, ranks: tuple[int, int] = (0, 0), names: tuple[str, str] = ("the first", "the second")
) -> Compared:
    """``ranks``: how many ranks took part in each, where the texts show only some of them."""
    a, b = series(first.steps), series(second.steps)
    if not a.usual or not b.usual:
        return Compared(because=("One of the runs tells no steps.",))
    before, after = a.typical, b.typical
    count = (_ranks(first, a, ranks[0]), _ranks(second, b, ranks[1]))
    noise = sum(numbers.error(_noise(each), len(each.usual)) for each in (a, b))
    enough = min(len(a.usual), len(b.usual)) >= 5
    differs = enough and abs(after - before) > max(_ERRORS * noise, 0.01 * before)
    scaling, efficiency = _efficiency(first, second, before, after, count) if count[0] != count[1] else ("", None)
    longer = grown(a, b)
    found = Compared(before, after, *count, differs, scaling, efficiency, longer if differs else ())
    return replace(found, because=tuple(_words(found, enough, names, a.told & b.told)))


def count(times: Times) -> int:
    """How many ranks took part, 0 where nothing tells."""
    return _ranks(times, series(times.steps), 0)


def _noise(found: Series) -> float:
    return numbers.spread([found.seconds[number] for number in found.usual])


def _ranks(times: Times, found: Series, given: int) -> int:
    told = len(found.ranks) if "" not in found.ranks else 0
    # A text of one rank alone tells nothing of how many there are.
    return given or of(times.settings).world or (told if told > 1 else 0)


def _efficiency(
    first: Times, second: Times, before: float, after: float, count: tuple[int, int]
) -> tuple[str, float | None]:
    """By the batch of a step: the same for all ranks together, or for each rank."""
    a, b = of(first.settings), of(second.settings)
    if a.global_batch and b.global_batch and all(count):
        work = b.global_batch / a.global_batch
        scaling = STRONG if work == 1 else WEAK if work * count[0] == count[1] else ""
        return scaling, work * before * count[0] / (after * count[1])
    same = a.micro_batch is not None and a.micro_batch == b.micro_batch
    if same and (a.accumulation or 1) == (b.accumulation or 1):
        return WEAK, before / after
    return "", None


def grown(a: Series, b: Series) -> tuple[Grown, ...]:
    """Parts that both tell, what is longer first."""
    shared = sorted(a.told & b.told)
    first, second = shares(a), shares(b)
    longer = b.typical - a.typical
    found = []
    for part in shared:
        before, after = first.parts[part] * a.typical, second.parts[part] * b.typical
        found.append(Grown(part, before, after, (after - before) / longer if longer else 0.0))
    return tuple(sorted((each for each in found if each.share >= _WORTH), key=lambda each: -each.share))


def _words(found: Compared, enough: bool, names: tuple[str, str], told: frozenset[str]) -> list[str]:
    shown = [f" ({words.many(n, 'rank')})" if n else "" for n in (found.ranks_before, found.ranks_after)]
    sentences = [
        f"A step takes {words.span(found.before)} in {names[0]}{shown[0]} "
        f"and {words.span(found.after)} in {names[1]}{shown[1]}."
    ]
    if not enough:
        return [*sentences, "That is too few steps to say whether they differ: five of each are needed."]
    if not found.differs:
        sentences.append("They do not differ beyond their own noise.")
    if found.efficiency is not None:
        how = f", as {found.scaling}" if found.scaling else ""
        sentences.append(
            f"In a second each rank of {names[1]} does {words.percent(found.efficiency)} of the work that each of "
            f"{names[0]} does{how}."
        )
    elif found.ranks_before != found.ranks_after:
        weak = found.before / found.after
        text = "No setting tells how much a step does in each. "
        if found.ranks_before and found.ranks_after:
            strong = weak * found.ranks_before / found.ranks_after
            text += (
                f"Where {WEAK}, the efficiency is {words.percent(weak)}; where {STRONG}, it is {words.percent(strong)}."
            )
        sentences.append(text.strip())
    for each in found.grown:
        sentences.append(
            f"{each.part.capitalize()} takes {words.span(abs(each.seconds))} {'more' if each.seconds > 0 else 'less'}: "
            f"{words.percent(each.share)} of the difference."
        )
    if found.differs and not found.grown:
        sentences.append(
            f"No told part ({words.listed(told)}) grew: the difference is in what no part tells."
            if told
            else "No part is told in both, so what makes the difference is not known."
        )
    return sentences
