# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a stack that breaks no blocking rule, the preferred one first; resolvelib searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from resolvelib import (
    AbstractProvider,
    BaseReporter,
    ResolutionImpossible,
    ResolutionTooDeep,
    Resolver,
)

from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.candidates import (
    PARTS,
    Candidate,
    candidates,
    newest,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.collision import (
    Collision,
    Pair,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.policy import AUTO, Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.rules import PAIRS, Rules

_FLAVOURS = ("doca", "mlnx_ofed", "inbox")
# Rounds of search: most stacks take one a part.
_QUICK = 60
_LONG = 2000
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
    for one in candidates(part, rules.host, policy, rules.matrix):
        broken = rules.about(one)
        if not any(each.blocks for each in broken):
            found.append((_rank(one, broken, wish), one))
    found.sort(key=lambda each: each[0])
    return [one for _, one in found]


def solve(rules: Rules, policy: Policy, wish: Policy) -> dict[str, Candidate]:
    """A candidate for every part; raises Unsolvable."""
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
                one for one in ones if any(rules.go_together(rule, one, each) for each in others)
            ]
            found[rule.other] = [
                each for each in others if any(rules.go_together(rule, one, each) for one in ones)
            ]
            left = len(found[rule.one]) + len(found[rule.other])
            shrunk = shrunk or left < len(ones) + len(others)
        if not all(found.values()):
            raise Unsolvable
    return found


def _rank(one: Candidate, broken: list[Collision], wish: Policy) -> tuple[Any, ...]:
    """Smaller is better: few doubts, near the wish, long support, new."""
    fact = one.fact
    kind = fact.get("kind", "") if fact else ""
    lts = bool(fact and fact.get("lts"))
    return (
        len(broken),
        one.absent,
        _far(one, wish),
        _FLAVOURS.index(one.flavour) if one.flavour in _FLAVOURS else 0,
        not lts,
        _KINDS.index(kind) if kind in _KINDS else 0,
        # The flavour of modules that the branch itself prefers.
        fact.get("modules").index(one.modules) if fact and one.modules else 0,
        newest(one),
        tuple(-int(number) for number in one.cuda.split(".") if number.isdigit()),
    )


def _far(one: Candidate, wish: Policy) -> tuple[int, ...]:
    if one.part == "rdma":
        asked = wish.rdma_flavour
        return (0 if asked == AUTO or one.flavour == asked else 1,)
    if one.part == "driver" and wish.driver != AUTO and one.branch:
        asked = wish.driver.partition(".")[0]
        return (abs(int(one.branch) - int(asked)) if asked.isdigit() else 0,)
    if one.part == "cuda" and wish.cuda != AUTO:
        return (0 if one.version.partition(".")[0] == wish.cuda.partition(".")[0] else 1,)
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
        refused = [id(one) for one in incompatibilities[identifier]]
        fitting = [
            one
            for one in self._domains[identifier]
            if id(one) not in refused and all(self.is_satisfied_by(need, one) for need in needs)
        ]
        # What raises no doubt beside the parts that are settled comes first.
        return sorted(fitting, key=lambda one: sum(bool(self._doubt(n, one)) for n in needs))

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
