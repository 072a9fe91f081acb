# SPDX-License-Identifier: GPL-3.0-or-later
"""The resolver's three answers for one platform: known, allowed, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve import known, refuse
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.collision import Collision
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.platform import Platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.policy import (
    Policy,
    PolicyError,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.refuse import Refusal
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.rules import Rules
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.solve import (
    Unsolvable,
    solve,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.stack import as_stack

KNOWN = "known"
ALLOWED = "allowed"
# A stack that somebody shipped is not chosen by itself if it got old, or never was final.
_NOT_BY_ITSELF = ("DRIVER_EOL", "RDMA_EOL", "RDMA_PRERELEASE", "RDMA_PATCH")


@dataclass(frozen=True)
class Answer:
    """A stack that may be installed. ``stack``: as in the lock; ``because``: one reason a line."""

    verdict: str
    stack: dict[str, Any]
    because: list[str] = field(default_factory=list)
    warnings: list[Collision] = field(default_factory=list)


def resolve(host: Platform, policy: Policy, matrix: Matrix, today: str) -> Answer | Refusal:
    """The stack for a platform under a policy. Pure; ``today`` is YYYY-MM-DD."""
    rules = Rules(host, matrix, today)
    try:
        return _find(rules, policy, policy)
    except Unsolvable:

        def again(loosened: Policy) -> dict[str, Any] | None:
            try:
                return _find(rules, loosened, policy).stack
            except Unsolvable:
                return None

        return refuse.explain(rules, policy, again)


def _find(rules: Rules, policy: Policy, wish: Policy) -> Answer:
    chosen, warnings = _choose(rules, policy, wish)
    known_by = known.reason(chosen, rules.host, rules.matrix)
    because = [known_by or "breaks no confirmed rule of the matrix"]
    because += _reasons(chosen)
    because += [f"mind {one}" for one in warnings]
    return Answer(KNOWN if known_by else ALLOWED, as_stack(chosen), because, warnings)


def _choose(
    rules: Rules, policy: Policy, wish: Policy
) -> tuple[dict[str, Candidate], list[Collision]]:
    """The youngest shipped stack that goes and has not got old, else what the solver prefers."""
    for narrowed in _shipped(rules.host, policy, rules.matrix):
        try:
            chosen = solve(rules, narrowed, wish)
        except Unsolvable:
            continue
        warnings = rules.within(chosen)
        if all(one.rule not in _NOT_BY_ITSELF for one in warnings):
            return chosen, warnings
    chosen = solve(rules, policy, wish)
    return chosen, rules.within(chosen)


def _shipped(host: Platform, policy: Policy, matrix: Matrix) -> Iterator[Policy]:
    """The policy narrowed to each known stack of this system that it leaves open."""
    for fact in known.of_system(host, matrix):
        try:
            yield policy.and_also(**known.wishes(fact, host, policy))
        except PolicyError:
            continue


def _reasons(chosen: dict[str, Candidate]) -> Iterator[str]:
    for part in ("rdma", "driver"):
        one = chosen[part]
        if one.fact is None:
            continue
        until = one.fact.get("eol")
        kind = one.fact.get("kind") or ("long term support" if one.fact.get("lts") else "")
        words = ", ".join(
            word for word in (kind, f"supported until {until}" if until else "") if word
        )
        if words:
            yield f"{one}: {words}"
