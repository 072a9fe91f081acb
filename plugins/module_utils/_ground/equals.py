# SPDX-License-Identifier: GPL-3.0-or-later
"""The odd one out among equals: a property that most of them have alike, and who has it not; no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Generic, Hashable, Mapping, Sequence, TypeVar

from .text import few

# Two that differ have no majority.
MIN_EQUALS = 3
# How the reason begins where equals differ and nobody can tell which of them is right.
NO_MAJORITY = "no majority: "
# The same where several claim what has to be one's own.
CLAIMED = "claimed twice: "
# What is to be done then: to change either of them may be to change the right one.
SAY_WHICH = "nothing tells which of them is right: say in the inventory or the plan what is wanted, then verify again"
_SHOWN = 4
K = TypeVar("K", bound=Hashable)


def most_have(values: Sequence[K]) -> tuple[K, int] | None:
    """The value that more than half of at least three have, and how many have it."""
    if len(values) < MIN_EQUALS:
        return None
    value, times = Counter(values).most_common(1)[0]
    return (value, times) if 2 * times > len(values) else None


@dataclass(frozen=True)
class Odd:
    """What one has instead of what its equals have. ``source``: who expects that, in a check."""

    value: str
    usual: str
    source: str


@dataclass(frozen=True)
class Compared(Generic[K]):
    """``odd``: those unlike most. ``silent``: those that do not tell what their equals tell.

    ``split``: why nobody can tell which of them is right, by the first of each such group;
    ``pairs``: the same of groups too small for a majority; ``alike``: how many were compared and
    are as most.
    """

    odd: dict[K, Odd] = field(default_factory=dict)
    silent: tuple[K, ...] = ()
    split: dict[K, str] = field(default_factory=dict)
    pairs: dict[K, str] = field(default_factory=dict)
    alike: int = 0


def compare(values: Mapping[K, str], group: Mapping[K, Hashable]) -> Compared[K]:
    """Hold each against those of its group; "" is the value of who does not tell."""
    members: dict[Hashable, list[K]] = {}
    for entry in values:
        members.setdefault(group[entry], []).append(entry)
    odd: dict[K, Odd] = {}
    silent: list[K] = []
    split: dict[K, str] = {}
    pairs: dict[K, str] = {}
    alike = 0
    for mine in members.values():
        known = {entry: values[entry] for entry in mine if values[entry]}
        if known:
            silent += [entry for entry in mine if not values[entry]]
        counted = Counter(known.values())
        usual = most_have(list(known.values()))
        if len(counted) == 1:
            alike += len(known) if len(known) > 1 else 0
        elif usual is not None:
            alike += usual[1]
            source = f"equals {usual[1]}/{len(known)}"
            odd.update((entry, Odd(value, usual[0], source)) for entry, value in known.items() if value != usual[0])
        elif counted:
            why = NO_MAJORITY + few([f"{value} on {times}" for value, times in counted.most_common()], _SHOWN)
            (split if len(known) >= MIN_EQUALS else pairs)[next(iter(known))] = why
    return Compared(odd, tuple(silent), split, pairs, alike)
