# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules together, and how to ask them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve import (
    rules_driver,
    rules_rdma,
    rules_software,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.collision import (
    Alone,
    Collision,
    Found,
    Pair,
    collision,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.platform import Platform

# The first that is broken is the one that a refusal names: what nobody can change comes first.
_ALONE: tuple[Alone, ...] = (*rules_software.ALONE, *rules_driver.ALONE, *rules_rdma.ALONE)
_AGES = (("DRIVER_EOL", "driver"), ("RDMA_EOL", "rdma"))
PAIRS: tuple[Pair, ...] = (*rules_driver.PAIRS, *rules_rdma.PAIRS, *rules_software.PAIRS)


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

    def about(self, one: Candidate) -> list[Collision]:
        """Every rule that a candidate breaks by itself."""
        if one not in self._seen:
            mine = (rule for rule in self.alone if rule.part == one.part)
            found = [(rule.rule, rule.test(self.host, one, self.matrix)) for rule in mine]
            judged = [collision(name, each, self.matrix) for name, each in found]
            self._seen[one] = [each for each in judged if each is not None]
        return self._seen[one]

    def between(self, rule: Pair, one: Candidate, other: Candidate) -> Collision | None:
        """What a rule finds between two candidates, given in the rule's order."""
        key = (rule.rule, one, other)
        if key not in self._beside:
            found = rule.test(self.host, one, other, self.matrix)
            self._beside[key] = collision(rule.rule, found, self.matrix)
        return self._beside[key]

    def go_together(self, rule: Pair, one: Candidate, other: Candidate) -> bool:
        """Whether a rule lets two candidates stand, given in the rule's order."""
        found = self.between(rule, one, other)
        return found is None or not found.blocks

    def within(self, chosen: dict[str, Candidate]) -> list[Collision]:
        """Every rule that a whole stack breaks."""
        found = [each for one in chosen.values() for each in self.about(one)]
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

    def test(host: Platform, one: Candidate, matrix: Matrix) -> Found | None:
        until = one.fact.get("eol", "") if one.fact else ""
        if one.fact is None or not until or until >= month:
            return None
        return Found(f"support of {one.fact.name} ended {until}", str(one), one.fact.sure("eol"))

    return test
