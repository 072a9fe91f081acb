# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a stack that breaks no blocking rule, the preferred one first; resolvelib searches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

try:
    from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver
except ImportError as exc:
    # ansible-test imports every plugin without what ansible-core brings; `solve` raises it.
    MISSING: ImportError | None = exc
    AbstractProvider = dict  # type: ignore[assignment,misc]
else:
    MISSING = None

from .candidates import PARTS, Candidate, candidates, newest
from .collision import Collision, Pair
from .policy import AUTO, Policy
from .rules import PAIRS, Rules

_FLAVOURS = ("doca", "mlnx_ofed", "inbox")
# Rounds of search: most stacks take one a part.
_QUICK = 60
_LONG = 2000
# What has to be done once is no doubt about what it is done for.
_STEPS = ("SECURE_BOOT",)
_KINDS = ("LTSB", "PB", "NFB", "unknown", "")


@dataclass(frozen=True)
class Need:
    """A part must be there and, by a rule, go with a candidate of another part."""

    part: str
    rule: Pair | None = None
    beside: Candidate | None = None


class Unsolvable(Exception):
    """No stack goes; refuse.py says why."""


def domain(part: str, rules: Rules, policy: Policy, wish: Policy) -> list[Candidate]:
    """What a part can be here, without what a rule forbids, the preferred first.

    ``wish``: what the site wanted before the policy was loosened; the nearest to it comes first.
    """
    found = []
    for candidate in candidates(part, rules.host, policy, rules.matrix):
        broken = rules.about(candidate)
        if not any(collision.blocks for collision in broken):
            found.append((_rank(candidate, broken, wish, rules.shipped), candidate))
    found.sort(key=lambda each: each[0])
    return [item for _unused, item in found]


def solve(rules: Rules, policy: Policy, wish: Policy) -> dict[str, Candidate]:
    """A candidate for every part; raises Unsolvable, and ImportError without resolvelib."""
    if MISSING is not None:
        raise MISSING
    found = {part: domain(part, rules, policy, wish) for part in PARTS}
    if not all(found.values()):
        raise Unsolvable
    try:
        return _search(rules, found, _QUICK)
    except ResolutionTooDeep:
        pass
    try:
        # Without what goes with nothing of another part, the search runs into few dead ends.
        return _search(rules, _pruned(rules, found), _LONG)
    except ResolutionTooDeep:
        raise Unsolvable from None


def _search(rules: Rules, domains: dict[str, list[Candidate]], rounds: int) -> dict[str, Candidate]:
    resolver: Resolver[Need, Candidate, str] = Resolver(_Provider(rules, domains), BaseReporter())
    try:
        result = resolver.resolve([Need(part) for part in PARTS], max_rounds=rounds)
    except ResolutionImpossible:
        raise Unsolvable from None
    return {part: result.mapping[part] for part in PARTS}


def _pruned(rules: Rules, domains: dict[str, list[Candidate]]) -> dict[str, list[Candidate]]:
    """What is left when each candidate has to go with some of every other part."""
    found = dict(domains)
    shrunk = True
    while shrunk:
        shrunk = False
        for rule in PAIRS:
            ones, others = found[rule.one], found[rule.other]
            found[rule.one] = [
                candidate for candidate in ones if any(rules.go_together(rule, candidate, each) for each in others)
            ]
            found[rule.other] = [
                candidate for candidate in others if any(rules.go_together(rule, entry, candidate) for entry in ones)
            ]
            left = len(found[rule.one]) + len(found[rule.other])
            shrunk = shrunk or left < len(ones) + len(others)
        if not all(found.values()):
            raise Unsolvable
    return found


def _rank(candidate: Candidate, broken: list[Collision], wish: Policy, shipped: Collection[str]) -> tuple[Any, ...]:
    """Smaller is better: few doubts, near the wish, a branch that somebody shipped, long support, new."""
    fact = candidate.fact
    kind = fact.get("kind", "") if fact else ""
    lts = bool(fact and fact.get("lts"))
    return (
        sum(each.rule not in _STEPS for each in broken),
        candidate.absent,
        _far(candidate, wish),
        _FLAVOURS.index(candidate.flavour) if candidate.flavour in _FLAVOURS else 0,
        bool(candidate.branch) and candidate.branch not in shipped,
        not lts,
        _KINDS.index(kind) if kind in _KINDS else 0,
        # The flavour of modules that the branch itself prefers.
        fact.get("modules").index(candidate.modules) if fact and candidate.modules in fact.get("modules", ()) else 0,
        newest(candidate),
        tuple(-int(number) for number in candidate.cuda.split(".") if number.isdigit()),
    )


def _far(candidate: Candidate, wish: Policy) -> tuple[int, ...]:
    if candidate.part == "rdma":
        asked = wish.rdma_flavour
        return (0 if asked == AUTO or candidate.flavour == asked else 1,)
    if candidate.part == "driver" and wish.driver != AUTO and candidate.branch:
        asked = wish.driver.partition(".")[0]
        return (abs(int(candidate.branch) - int(asked)) if asked.isdigit() else 0,)
    if candidate.part == "cuda" and wish.cuda != AUTO:
        return (0 if candidate.version.partition(".")[0] == wish.cuda.partition(".")[0] else 1,)
    return (0,)


class _Provider(AbstractProvider[Need, Candidate, str]):
    def __init__(self, rules: Rules, domains: dict[str, list[Candidate]]) -> None:
        self._rules = rules
        self._domains = domains

    def identify(self, requirement_or_candidate: Need | Candidate) -> str:
        return requirement_or_candidate.part

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Any,
        backtrack_causes: Any,
    ) -> int:
        return PARTS.index(identifier)

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Need]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> Iterable[Candidate]:
        needs = list(requirements[identifier])
        refused = [id(incompatibility) for incompatibility in incompatibilities[identifier]]
        fitting = [
            domain
            for domain in self._domains[identifier]
            if id(domain) not in refused and all(self.is_satisfied_by(need, domain) for need in needs)
        ]
        # What raises no doubt beside the parts that are settled comes first.
        return sorted(fitting, key=lambda entry: sum(bool(self._doubt(n, entry)) for n in needs))

    def is_satisfied_by(self, requirement: Need, candidate: Candidate) -> bool:
        found = self._doubt(requirement, candidate)
        return found is None or not found.blocks

    def _doubt(self, need: Need, candidate: Candidate) -> Collision | None:
        rule, beside = need.rule, need.beside
        if rule is None or beside is None:
            return None
        if rule.one == candidate.part:
            return self._rules.between(rule, candidate, beside)
        return self._rules.between(rule, beside, candidate)

    def get_dependencies(self, candidate: Candidate) -> Iterable[Need]:
        for rule in PAIRS:
            if candidate.part == rule.one:
                yield Need(rule.other, rule, candidate)
            elif candidate.part == rule.other:
                yield Need(rule.one, rule, candidate)
