# SPDX-License-Identifier: GPL-3.0-or-later
"""Say why no stack goes: the rule, the two facts that collide, and the nearest stack that would."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .candidates import PARTS, Candidate, candidates, newest
from .collision import Collision, Pair
from .policy import AUTO, DEFAULT, NONE, PREFIX, Policy
from .rules import PAIRS, Rules
from .solve import domain

# The wishes that decide about a part.
_WISHES = {"rdma": ("rdma_version", "rdma_flavour"), "driver": ("driver", "driver_flavour", "driver_modules")}


@dataclass(frozen=True)
class Refusal:
    """No stack goes. ``rule``: the one that is broken; ``one``, ``other``: the two facts.

    ``nearest``: the stack that goes if the wishes in ``change`` (variable: its new value) are
    changed; empty where none does. ``also``: why others of the part do not go either, one reason each.
    """

    rule: str
    says: str
    one: str
    other: str
    source: str
    nearest: dict[str, Any] = field(default_factory=dict)
    change: dict[str, str] = field(default_factory=dict)
    also: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.rule}: {self.one}; {self.other}. {self.says} (source: {self.source})"


def explain(rules: Rules, policy: Policy, again: Callable[[Policy], dict[str, Any] | None]) -> Refusal:
    """The refusal for a policy that has no solution.

    ``again`` gives the stack for a loosened policy, None where that has no solution either.
    """
    found, parts, also = _why(rules, policy)
    nearest, change = _nearest(policy, parts, again)
    return Refusal(found.rule, found.says, found.one, found.other, found.source, nearest, change, also)


def _why(rules: Rules, policy: Policy) -> tuple[Collision, tuple[str, ...], list[str]]:
    """The collision to name, the parts that it is about, and why others of a part do not go."""
    domains: dict[str, list[Candidate]] = {}
    for part in PARTS:
        domains[part] = domain(part, rules, policy, policy)
        if not domains[part]:
            found, others = _excluded(rules, policy, part)
            return found, (part,), [f"{other.rule}: {other.one}; {other.other}" for other in others]
    for rule in PAIRS:
        pairs = itertools.product(domains[rule.one], domains[rule.other])
        against = [rules.between(rule, *pair) for pair in pairs]
        blocking = [item for item in against if item is not None and item.blocks]
        if len(blocking) == len(against):
            return blocking[0], (rule.one, rule.other), []
    return *_squeezed(rules, domains), []


def _squeezed(rules: Rules, domains: dict[str, list[Candidate]]) -> tuple[Collision, tuple[str, ...]]:
    """What takes the last of a part away when all that has no partner goes, until nothing changes.

    No single pair of parts explains the refusal then. Where nothing runs out either, the first that
    collides is named: did all go together, there would be a stack.
    """
    left, shrunk = dict(domains), True
    tangled: tuple[Collision, tuple[str, ...]] | None = None
    while shrunk:
        shrunk = False
        for rule in PAIRS:
            for part, other in ((rule.one, rule.other), (rule.other, rule.one)):
                kept, lost = _with_partner(rules, rule, part, left[part], left[other])
                if lost is None:
                    continue
                if not kept:
                    return lost, (rule.one, rule.other)
                tangled = tangled or (lost, (rule.one, rule.other))
                left[part], shrunk = kept, True
    for rule in PAIRS:
        for pair in itertools.product(left[rule.one], left[rule.other]):
            found = rules.between(rule, *pair)
            if found is not None and found.blocks:
                return tangled or (found, (rule.one, rule.other))
    raise AssertionError("unsolvable, and no rule says why")


def _with_partner(
    rules: Rules, rule: Pair, part: str, mine: list[Candidate], theirs: list[Candidate]
) -> tuple[list[Candidate], Collision | None]:
    """Those that go with some of the other part, and why the first of the others does not."""
    kept, lost = [], None
    for candidate in mine:
        pairs = [(candidate, each) if part == rule.one else (each, candidate) for each in theirs]
        against = [rules.between(rule, *pair) for pair in pairs]
        if all(item is not None and item.blocks for item in against):
            lost = lost or against[0]
        else:
            kept.append(candidate)
    return kept, lost


def _excluded(rules: Rules, policy: Policy, part: str) -> tuple[Collision, list[Collision]]:
    """Why nothing is left of a part: the rule that takes away the last of it, and those before."""
    left = sorted(candidates(part, rules.host, policy, rules.matrix), key=newest)
    lost: list[Collision] = []
    for rule in rules.alone:
        if rule.part != part:
            continue
        broken = {id(rest): _blocking(rules, rule.rule, rest) for rest in left}
        kept = [rest for rest in left if broken[id(rest)] is None]
        lost += [each for each in broken.values() if each is not None][:1]
        if not kept:
            return lost[-1], lost[:-1]
        left = kept
    raise AssertionError(f"{part}: nothing is left, and no rule says why")


def _blocking(rules: Rules, name: str, candidate: Candidate) -> Collision | None:
    return next(
        (collision for collision in rules.about(candidate) if collision.rule == name and collision.blocks), None
    )


def _nearest(
    policy: Policy, parts: tuple[str, ...], again: Callable[[Policy], dict[str, Any] | None]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Give up as few wishes as possible, those about the colliding parts first; GPUDirect RDMA is the last."""
    for given_up in _combinations(policy, parts):
        stack = again(policy.without(*given_up))
        if stack is not None:
            return stack, {PREFIX + name: _now(name, stack) for name in given_up}
    if "peer_memory" in parts:
        stack = again(replace(policy, peer_memory=NONE))
        if stack is not None:
            return stack, {PREFIX + "peer_memory": NONE}
    return {}, {}


def _combinations(policy: Policy, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    close = [name for part in parts for name in _WISHES.get(part, (part,))]
    pinned = [name for name, _unused in policy.pins()]
    order = sorted(pinned, key=lambda name: close.index(name) if name in close else len(close))
    for count in range(1, len(order) + 1):
        yield from itertools.combinations(order, count)


_FIELDS = {
    "rdma_flavour": ("rdma", "flavour"),
    "rdma_version": ("rdma", "version"),
    "driver_flavour": ("driver", "flavour"),
    "driver_modules": ("driver", "modules"),
    "peer_memory": ("peer_memory", "method"),
}


def _now(name: str, stack: Mapping[str, Mapping[str, str]]) -> str:
    """A wish as the stack fulfils it; auto where it says nothing of it (inbox has no version)."""
    if name == DEFAULT:
        return AUTO
    part, key = _FIELDS.get(name, (name, "version"))
    if part not in stack:
        return NONE
    return stack[part].get(key) or AUTO
