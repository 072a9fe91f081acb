# SPDX-License-Identifier: GPL-3.0-or-later
"""Who meets whom in which round: pure, and the same again for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from random import Random

from ..._hosts.rounds import meetings, tournament

# Up to here everybody meets everybody: 31 rounds, four Ansible tasks a host. The rounds grow with
# the hosts and the pairs with their square, so this is where a sample begins to be worth its gaps.
FULL = 32
# With eight random partners for each of 2,000 hosts below 63 leaves, four ways on average are
# tried between any two leaves, and those that chance left out are put in (spread).
ROUNDS = 8

Meeting = tuple[str, str]
Rails = Mapping[str, Set[str]]
# How often one change is tried, and all of them: a try takes one or two microseconds.
_TRIES = 40
_TRIES_IN_ALL = 60_000


@dataclass(frozen=True)
class Desired:
    """``full``: up to so many hosts all meet; beyond it there are ``rounds`` random rounds.

    ``fit``: how many rounds there is time for; None: as many as it takes.
    """

    full: int = FULL
    rounds: int = ROUNDS
    seed: int = 0
    fit: int | None = None


@dataclass(frozen=True)
class Schedule:
    """``rounds``: in each every host meets at most one other. ``wanted``: rounds without a limit.

    Without ``sampled`` all pairs that have a rail in common are there.
    """

    sampled: bool
    wanted: int
    rounds: list[list[Meeting]]


def schedule(hosts: Rails, wish: Desired, leaves: Mapping[tuple[str, str], str] | None = None) -> Schedule:
    """Plan over hosts and their rails; ``leaves``: the leaf switch of (host, rail), where known."""
    names = [name for name, rails in hosts.items() if rails]
    every = tournament(len(names))
    wanted = every if len(names) <= wish.full else min(every, wish.rounds)
    fit = every if wish.fit is None else min(every, wish.fit)
    if min(wanted, fit) == every:
        rounds = [_round(names, number) for number in range(every)]
        return Schedule(False, every, _useful(hosts, rounds))
    dice = Random(wish.seed)
    dice.shuffle(names)
    numbers = dice.sample(range(every), min(wanted, fit))
    rounds = [_round(names, number) for number in numbers]
    if leaves and rounds:
        spread(hosts, rounds, leaves, dice)
    rounds += _rest(hosts, rounds, fit - len(rounds))
    return Schedule(True, max(wanted, len(rounds)), _useful(hosts, rounds))


def left_out(hosts: Rails, rounds: list[list[Meeting]]) -> dict[str, set[str]]:
    """Host -> its rails on which it meets nobody, though others have that rail as well."""
    seen: dict[str, int] = {}
    for rails in hosts.values():
        for rail in rails:
            seen[rail] = seen.get(rail, 0) + 1
    left = {name: {rail for rail in rails if seen[rail] > 1} for name, rails in hosts.items()}
    for met in rounds:
        for entry, two in met:
            left[entry] -= hosts[two]
            left[two] -= hosts[entry]
    return {name: rails for name, rails in left.items() if rails}


def _round(names: list[str], number: int) -> list[Meeting]:
    return [(names[meeting], names[two]) for meeting, two in meetings(len(names), number)]


def _useful(hosts: Rails, rounds: list[list[Meeting]]) -> list[list[Meeting]]:
    """Without pairs that have no rail in common."""
    kept = [[(entry, two) for entry, two in met if hosts[entry] & hosts[two]] for met in rounds]
    return [met for met in kept if met]


def _rest(hosts: Rails, rounds: list[list[Meeting]], most: int) -> list[list[Meeting]]:
    """More rounds, for rails of which the random ones paired no two."""
    more: list[list[Meeting]] = []
    left = left_out(hosts, rounds)
    while left and len(more) < most:
        more.append(_for_these(hosts, left))
        left = left_out(hosts, [*rounds, *more])
    return more


def _for_these(hosts: Rails, left: Mapping[str, set[str]]) -> list[Meeting]:
    """One round in which at least one host meets another on a rail that it was left out on."""
    holders: dict[str, list[str]] = {}
    for name, rails in hosts.items():
        for rail in rails:
            holders.setdefault(rail, []).append(name)
    busy: set[str] = set()
    met: list[Meeting] = []
    for name, rails in left.items():
        if name in busy:
            continue
        free = [other for rail in sorted(rails) for other in holders[rail] if other not in {name, *busy}]
        if free:
            other = max(free, key=lambda entry: len(left.get(entry, set()) & rails))
            busy |= {name, other}
            met.append((name, other))
    return met


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
        self._mates = [{**dict(met), **{two: entry for entry, two in met}} for met in rounds]
        self._met = {frozenset(pair) for met in rounds for pair in met}
        self._between: Counter[frozenset[int]] = Counter()
        self._away: Counter[str] = Counter()
        for met in rounds:
            for item, two in met:
                self._count(item, two, 1)
        self._left = _TRIES_IN_ALL

    def spread(self) -> None:
        if len(self._members) < 2:
            return
        everybody = list(self._group)
        for name in everybody:
            if not self._away[name]:
                self._bring_together([name], everybody)
        for pair, two in combinations(self._members, 2):
            if self._left <= 0:
                break
            if not self._between[frozenset((pair, two))]:
                self._bring_together(self._members[pair], self._members[two])
        for number, mates in enumerate(self._mates):
            self._rounds[number] = [(mate, two) for mate, two in mates.items() if mate < two]

    def _bring_together(self, some: Sequence[str], others: Sequence[str]) -> None:
        for _turn in range(min(_TRIES, self._left)):
            self._left -= 1
            entry, two = self._dice.choice(some), self._dice.choice(others)
            if self._change(self._dice.choice(self._mates), entry, two):
                return

    def _change(self, mates: dict[str, str], text: str, two: str) -> bool:
        """Have ``one`` meet ``two``, and their partners each other, where that may be."""
        if text not in mates or two not in mates or self._group[text] == self._group[two]:
            return False
        left, right = mates[text], mates[two]
        if left == two or frozenset((text, two)) in self._met:
            return False
        if frozenset((left, right)) in self._met:
            return False
        if len({self._rails[name] for name in (text, two, left, right)}) > 1:
            return False
        old, new = ((text, left), (two, right)), ((text, two), (left, right))
        for pair in old:
            self._count(*pair, -1)
        for pair in new:
            self._count(*pair, 1)
        parted = any(self._group[a] != self._group[b] and not self._between[self._groups(a, b)] for a, b in old)
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

    def _count(self, text: str, two: str, by: int) -> None:
        if self._group[text] != self._group[two]:
            self._between[self._groups(text, two)] += by
            self._away[text] += by
            self._away[two] += by

    def _groups(self, text: str, two: str) -> frozenset[int]:
        return frozenset((self._group[text], self._group[two]))
