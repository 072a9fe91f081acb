# SPDX-License-Identifier: GPL-3.0-or-later
"""Change partners in random rounds, so that the ways between leaf switches are spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from random import Random

Meeting = tuple[str, str]
# How often one change is tried, and all of them: a try takes one or two microseconds.
_TRIES = 40
_TRIES_IN_ALL = 60_000


def spread(
    hosts: Mapping[str, Set[str]],
    rounds: list[list[Meeting]],
    leaves: Mapping[tuple[str, str], str],
    dice: Random,
) -> None:
    """Change ``rounds`` in place: every host leaves its leaf once, then all leaves meet.

    A change takes two pairs of one round and gives each the other's partner. It is made only where
    all four have the same rails, nobody meets anybody twice and no two leaves that met are parted:
    what was covered stays covered. Where no change is found, chance has the last word.
    """
    _Rounds(hosts, rounds, leaves, dice).spread()


class _Rounds:
    """Rounds as partners. A group is the hosts that have the same leaf on every rail."""

    def __init__(
        self,
        hosts: Mapping[str, Set[str]],
        rounds: list[list[Meeting]],
        leaves: Mapping[tuple[str, str], str],
        dice: Random,
    ) -> None:
        self._dice = dice
        self._rounds = rounds
        self._rails = {name: frozenset(rails) for name, rails in hosts.items() if rails}
        self._group: dict[str, int] = {}
        self._members: dict[int, list[str]] = {}
        numbers: dict[tuple[str, ...], int] = {}
        for name, rails in self._rails.items():
            at = tuple(f"{rail} {leaves.get((name, rail), '')}" for rail in sorted(rails))
            group = numbers.setdefault(at, len(numbers))
            self._group[name] = group
            self._members.setdefault(group, []).append(name)
        self._mates = [{**dict(met), **{two: one for one, two in met}} for met in rounds]
        self._met = {frozenset(pair) for met in rounds for pair in met}
        self._between: Counter[frozenset[int]] = Counter()
        self._away: Counter[str] = Counter()
        for met in rounds:
            for one, two in met:
                self._count(one, two, 1)
        self._left = _TRIES_IN_ALL

    def spread(self) -> None:
        if len(self._members) < 2:
            return
        everybody = list(self._group)
        for name in everybody:
            if not self._away[name]:
                self._bring_together([name], everybody)
        for one, two in combinations(self._members, 2):
            if self._left <= 0:
                break
            if not self._between[frozenset((one, two))]:
                self._bring_together(self._members[one], self._members[two])
        for number, mates in enumerate(self._mates):
            self._rounds[number] = [(one, two) for one, two in mates.items() if one < two]

    def _bring_together(self, some: Sequence[str], others: Sequence[str]) -> None:
        for _ in range(min(_TRIES, self._left)):
            self._left -= 1
            one, two = self._dice.choice(some), self._dice.choice(others)
            if self._change(self._dice.choice(self._mates), one, two):
                return

    def _change(self, mates: dict[str, str], one: str, two: str) -> bool:
        """Have ``one`` meet ``two``, and their partners each other, where that may be."""
        if one not in mates or two not in mates or self._group[one] == self._group[two]:
            return False
        left, right = mates[one], mates[two]
        if left == two or frozenset((one, two)) in self._met:
            return False
        if frozenset((left, right)) in self._met:
            return False
        if len({self._rails[name] for name in (one, two, left, right)}) > 1:
            return False
        old, new = ((one, left), (two, right)), ((one, two), (left, right))
        for pair in old:
            self._count(*pair, -1)
        for pair in new:
            self._count(*pair, 1)
        parted = any(
            self._group[a] != self._group[b] and not self._between[self._groups(a, b)]
            for a, b in old
        )
        if parted or not (self._away[left] and self._away[right]):
            for pair in new:
                self._count(*pair, -1)
            for pair in old:
                self._count(*pair, 1)
            return False
        self._met -= {frozenset(pair) for pair in old}
        self._met |= {frozenset(pair) for pair in new}
        for a, b in new:
            mates[a], mates[b] = b, a
        return True

    def _count(self, one: str, two: str, by: int) -> None:
        if self._group[one] != self._group[two]:
            self._between[self._groups(one, two)] += by
            self._away[one] += by
            self._away[two] += by

    def _groups(self, one: str, two: str) -> frozenset[int]:
        return frozenset((self._group[one], self._group[two]))
