# SPDX-License-Identifier: GPL-3.0-or-later
"""Who meets whom in which round: pure, and the same again for the same seed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from random import Random

from ansible_collections.ibready.cluster.plugins.plugin_utils._ping.spread import spread
from ansible_collections.ibready.cluster.plugins.plugin_utils._rounds import meetings, tournament

# Up to here everybody meets everybody: 31 rounds, four Ansible tasks a host. The rounds grow with
# the hosts and the pairs with their square, so this is where a sample begins to be worth its gaps.
FULL = 32
# With eight random partners for each of 2,000 hosts below 63 leaves, four ways on average are
# tried between any two leaves, and those that chance left out are put in (spread.py).
ROUNDS = 8

Meeting = tuple[str, str]
Rails = Mapping[str, Set[str]]


@dataclass(frozen=True)
class Wish:
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


def schedule(
    hosts: Rails, wish: Wish, leaves: Mapping[tuple[str, str], str] | None = None
) -> Schedule:
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
        for one, two in met:
            left[one] -= hosts[two]
            left[two] -= hosts[one]
    return {name: rails for name, rails in left.items() if rails}


def _round(names: list[str], number: int) -> list[Meeting]:
    return [(names[one], names[two]) for one, two in meetings(len(names), number)]


def _useful(hosts: Rails, rounds: list[list[Meeting]]) -> list[list[Meeting]]:
    """Without pairs that have no rail in common."""
    kept = [[(one, two) for one, two in met if hosts[one] & hosts[two]] for met in rounds]
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
        free = [
            other for rail in sorted(rails) for other in holders[rail] if other not in {name, *busy}
        ]
        if free:
            other = max(free, key=lambda one: len(left.get(one, set()) & rails))
            busy |= {name, other}
            met.append((name, other))
    return met
