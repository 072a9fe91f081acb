# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules together, and how to ask them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..matrix.model import Matrix
from . import rules_driver, rules_found, rules_gds, rules_rdma, rules_release, rules_software
from .candidates import Candidate
from .collision import Alone, Collision, Found, Pair, collision
from .platform import Platform

# The first that is broken is the one that a refusal names: what nobody can change comes first.
_ALONE: tuple[Alone, ...] = (
    *rules_software.ALONE,
    *rules_driver.ALONE,
    *rules_rdma.ALONE,
    *rules_gds.ALONE,
    *rules_release.ALONE,
)
_AGES = (("DRIVER_EOL", "driver"), ("RDMA_EOL", "rdma"))
PAIRS: tuple[Pair, ...] = (
    *rules_driver.PAIRS,
    *rules_rdma.PAIRS,
    *rules_software.PAIRS,
    *rules_found.PAIRS,
    *rules_gds.PAIRS,
)


@dataclass(frozen=True)
class Rules:
    """The rules on one platform on one day (YYYY-MM-DD)."""

    host: Platform
    matrix: Matrix
    today: str
    _seen: dict[Candidate, list[Collision]] = field(default_factory=dict)
    _beside: dict[tuple[str, Candidate, Candidate], Collision | None] = field(default_factory=dict)

    @functools.cached_property
    def alone(self) -> tuple[Alone, ...]:
        month = self.today[:7]
        ages = (Alone(rule, part, _supported(month)) for rule, part in _AGES)
        return (*_ALONE, *ages)

    @functools.cached_property
    def shipped(self) -> frozenset[str]:
        """The driver branches that somebody shipped in a stack."""
        stacks = self.matrix.all("stacks.stacks").values()
        return frozenset(str(fact.get("driver")).partition(".")[0] for fact in stacks if fact.get("driver"))

    def about(self, candidate: Candidate) -> list[Collision]:
        """Every rule that a candidate breaks by itself."""
        if candidate not in self._seen:
            mine = (rule for rule in self.alone if rule.part == candidate.part)
            found = [(rule.rule, rule.test(self.host, candidate, self.matrix)) for rule in mine]
            judged = [self._judged(name, each, candidate) for name, each in found]
            self._seen[candidate] = [each for each in judged if each is not None]
        return self._seen[candidate]

    def between(self, rule: Pair, candidate: Candidate, other: Candidate) -> Collision | None:
        """What a rule finds between two candidates, given in the rule's order."""
        key = (rule.rule, candidate, other)
        if key not in self._beside:
            found = rule.test(self.host, candidate, other, self.matrix)
            self._beside[key] = self._judged(rule.rule, found, candidate, other)
        return self._beside[key]

    def _judged(self, rule: str, found: Found | None, *of: Candidate) -> Collision | None:
        """The finding; where all that it is about stays as it is, a warning, and none of what only an install asks."""
        judged = collision(rule, found, self.matrix)
        if judged is None or not all(candidate.stays for candidate in of):
            return judged
        if self.matrix.all("rules.rules")[rule].get("of_install"):
            return None
        return replace(judged, blocks=False)

    def go_together(self, rule: Pair, candidate: Candidate, other: Candidate) -> bool:
        """Whether a rule lets two candidates stand, given in the rule's order."""
        found = self.between(rule, candidate, other)
        return found is None or not found.blocks

    def within(self, chosen: dict[str, Candidate]) -> list[Collision]:
        """Every rule that a whole stack breaks."""
        found = [each for candidate in chosen.values() for each in self.about(candidate)]
        for pair in PAIRS:
            if pair.one in chosen and pair.other in chosen:
                each = self.between(pair, chosen[pair.one], chosen[pair.other])
                found += [each] if each else []
        return found


def names() -> list[str]:
    """The ids of all rules; the matrix holds what they say."""
    always = [*(rule.rule for rule in _ALONE), *(pair.rule for pair in PAIRS)]
    return list(dict.fromkeys([*always, "DRIVER_EOL", "RDMA_EOL"]))


def _supported(month: str) -> Callable[[Platform, Candidate, Matrix], Found | None]:
    """The test for this month (YYYY-MM): only the age of a release needs to know one."""

    def test(host: Platform, candidate: Candidate, matrix: Matrix) -> Found | None:
        until = candidate.fact.get("eol", "") if candidate.fact else ""
        if candidate.fact is None or not until or until >= month:
            return None
        return Found(f"support of {candidate.fact.name} ended {until}", str(candidate), candidate.fact.sure("eol"))

    return test
