# SPDX-License-Identifier: GPL-3.0-or-later
"""What a search came to: convicted, acquitted or cannot tell, each with the measurements that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._ground.text import few
from .engine import CLEAR, Bisection
from .parts import BACK, CABLE, FORTH, HOST, PORT, SWITCH, Part
from .record import SLOW
from .score import Guilt

CONVICTED = "convicted"
ACQUITTED = "acquitted"
CANNOT_TELL = "cannot tell"
_PROOFS = 4
_NAMES = 4
_ONCE = 1
_WAYS = {
    (PORT, FORTH): "sending",
    (PORT, BACK): "receiving",
    (CABLE, FORTH): "from its lower end to its upper",
    (CABLE, BACK): "from its upper end to its lower",
}


@dataclass(frozen=True)
class Proof:
    """One measurement. ``usual``: what it would be of healthy parts. ``part``: whose proof it is."""

    part: str
    round: int
    source: str
    target: str
    gbps: float
    usual: float

    def __str__(self) -> str:
        return f"round {self.round}: {self.source} to {self.target} {self.gbps:.3g} of {self.usual:.3g} Gb/s"


@dataclass(frozen=True)
class Verdict:
    """``likely``: that the part is guilty, 0 to 1. ``against``: slow measurements over it. ``others``: those at full
    speed over the other parts of the same ways, which clear them. ``cleared``: those over this part."""

    kind: str
    part: str
    verdict: str
    why: str
    likely: float = 0.0
    made_of: tuple[str, ...] = ()
    against: tuple[Proof, ...] = ()
    others: tuple[Proof, ...] = ()
    cleared: tuple[Proof, ...] = ()


@dataclass(frozen=True)
class Told:
    """``usual``: the share of the line rate that most flows reached. ``clear``: parts that were never on a slow way
    and carried full speed. ``unused``: parts that no flow went over."""

    verdicts: tuple[Verdict, ...]
    rounds: int
    limit: int
    flows: int
    usual: float
    clear: int
    unused: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a report."""
        return {
            "rounds": self.rounds,
            "limit": self.limit,
            "flows": self.flows,
            "usual": round(self.usual, 3),
            "clear": self.clear,
            "unused": list(self.unused),
            "verdicts": [
                {
                    "kind": one.kind,
                    "part": one.part,
                    "verdict": one.verdict,
                    "why": one.why,
                    "likely": round(one.likely, 4),
                    "made_of": list(one.made_of),
                    **{
                        name: [proof.__dict__ for proof in getattr(one, name)]
                        for name in ("against", "others", "cleared")
                    },
                }
                for one in self.verdicts
            ],
        }


def judge(search: Bisection) -> Told:
    """Of every part that a slow flow went over; parts that no flow went over are named only."""
    record, parts = search.record, search.parts.all
    convicted = search.convicted()
    suspects = {*search.alone, *search.found.likely}
    verdicts = [_one(search, number, convicted) for number in suspects]
    order = (CONVICTED, CANNOT_TELL, ACQUITTED)
    verdicts.sort(key=lambda one: (order.index(one.verdict), -one.likely, one.part))
    unused = [
        part.name
        for part in parts
        if part.kind in (PORT, CABLE) and not any(link in record.over for link in part.links)
    ]
    clear = sum(number not in suspects and _is_clear(search, part) for number, part in enumerate(parts))
    counts = (record.rounds, search.limit, len(record.seen), record.usual or 1.0, clear)
    return Told(tuple(verdicts), *counts, tuple(unused))


def _one(search: Bisection, number: int, convicted: dict[int, Guilt]) -> Verdict:
    part = search.parts.all[number]
    likely = search.found.likely.get(number, 0.0)
    slow, fine = _over(search, part)
    against = tuple(_proof(search, part, at) for at in slow[:_PROOFS])
    cleared = tuple(_proof(search, part, at) for at in fine[-_PROOFS:])
    if number in convicted:
        why = _convicts(search, part, convicted[number])
        others = tuple(_others(search, number, slow[:2]))
        return Verdict(part.kind, part.name, CONVICTED, why, likely, part.made_of, against, others, cleared)
    behind = [search.parts.all[one].name for one in convicted if _shares(search, slow, one)]
    if likely < CLEAR and _is_clear(search, part) and not set(slow) & set(search.found.open):
        why = "at full speed in other rounds, or with other partners"
        if behind:
            why += f"; it was slow only together with {few(behind, _NAMES)}"
        return Verdict(part.kind, part.name, ACQUITTED, why, likely, (), against, (), cleared)
    why = _doubt(search, number, slow, behind)
    return Verdict(part.kind, part.name, CANNOT_TELL, why, likely, part.made_of, against, (), cleared)


def _convicts(search: Bisection, part: Part, guilt: Guilt) -> str:
    way = _WAYS.get((part.kind, guilt.way), "")
    when = "in every round" if guilt.steady else f"now and then, in rounds {', '.join(map(str, sorted(guilt.rounds)))}"
    left = f"{100 * guilt.to:.0f} % of the usual is left" if guilt.to > 0.01 else "nothing gets through"
    told = f"{left}{f' {way}' if way else ''}, {when} in which it was used" if guilt.steady else f"{left} {way}, {when}"
    told = told.replace("  ", " ").replace(" ,", ",")
    if len(part.made_of) > 1:
        told += f"; flows cannot tell apart {', '.join(part.made_of)}"
    return told


def _doubt(search: Bisection, number: int, slow: Sequence[int], behind: Sequence[str]) -> str:
    """Why neither is proved."""
    if search.record.doubtful:
        low = f"{100 * search.record.usual:.0f} % of the line rate"
        return f"the fastest flows reach {low}, and they are too few to say that this is usual: tell what is"
    guilt = search.alone.get(number)
    if guilt is not None and search.apart(number, guilt):
        return "some partners are reached at full speed, and others not at all: they may not be of one network"
    if behind and not set(slow) & set(search.found.open):
        known = few(behind, _NAMES)
        return f"every slow flow over it went over {known}, too, which is convicted; none over it alone was fast"
    part = search.parts.all[number]
    rounds = search.slow_rounds(number)
    if len(rounds) <= _ONCE:
        return "slow in one round only, and not again: something else may have been in the way"
    rivals = [
        search.parts.all[one].name
        for one, likely in sorted(search.found.likely.items(), key=lambda item: -item[1])
        if one != number and likely > CLEAR and _shares(search, slow, one)
    ]
    if rivals:
        return f"{part.name} and {few(rivals, _NAMES)} were on the same slow ways, and no further flow parted them"
    return "too few flows went over it to be sure"


def _shares(search: Bisection, slow: Sequence[int], number: int) -> bool:
    mine = {at for at, _likely in search.record.of(search.parts.all[number].links)}
    return bool(mine & set(slow))


def _is_clear(search: Bisection, part: Part) -> bool:
    """At full speed over it, in both directions where it has them."""
    good = search.record.good
    if part.kind in (HOST, SWITCH):
        return any(link in good for link in part.links)
    return all(link in good for link in part.links)


def _over(search: Bisection, part: Part) -> tuple[list[int], list[int]]:
    """Measurements over the part, slow and not; those that only may have gone over it are left out of the latter."""
    record = search.record
    over = record.of(part.links)
    slow = [at for at, _likely in over if record.share[at] < SLOW]
    return slow, [at for at, likely in over if record.share[at] >= SLOW and likely == 1]


def _others(search: Bisection, number: int, slow: Sequence[int]) -> list[Proof]:
    """For every other part of these ways, a measurement at full speed."""
    found: dict[int, Proof] = {}
    links = set(search.parts.all[number].links)
    for at in slow:
        for link in search.record.seen[at].links:
            if link in links:
                continue
            for other in search.parts.of[link]:
                if other == number or other in found:
                    continue
                part = search.parts.all[other]
                _slow, fine = _over(search, part)
                if fine:
                    found[other] = _proof(search, part, fine[-1])
    return list(found.values())


def _proof(search: Bisection, part: Part, at: int) -> Proof:
    record, ports = search.record, search.net.ports
    seen = record.seen[at]
    source, target = ports[seen.source].named, ports[seen.target].named
    usual = seen.expected * record.usual
    return Proof(part.name, seen.round, source, target, round(seen.gbps, 3), round(usual, 3))
