# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard facts that vendors publish, asked of the resolver as requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.table import refusal
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import Policy
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY, platform

FACTS = yaml.safe_load((Path(__file__).parent / "facts.yml").read_text())
# Not of these requests: what is old is minded everywhere.
_OLD = ("DRIVER_EOL", "RDMA_EOL", "RDMA_TESTED", "CUDA_MINOR", "NCCL_MINOR", "SECURITY")


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['answer']}-{fact.get('rule', '')}-{fact['wish']}")
def test_a_published_fact_is_answered_as_it_is_published(fact: dict[str, Any]) -> None:
    asked = dict(fact)
    wish, expected, rule = asked.pop("wish"), asked.pop("answer"), asked.pop("rule", "")
    assert asked.pop("source")
    found = resolve(platform(asked.pop("host", "h100"), **asked), Policy(**wish), load.own(), TODAY)
    if expected == "refused":
        assert isinstance(found, Refusal)
        assert found.rule == rule
        assert not found.change or "Next: set stack_" in refusal(found)
        return
    assert isinstance(found, Answer), found
    minded = {warning.rule for warning in found.warnings}
    assert (rule in minded) if expected == "minded" else not minded - set(_OLD)


def test_there_are_enough_of_them() -> None:
    assert len(FACTS) >= 40
    assert {fact["answer"] for fact in FACTS} == {"goes", "refused", "minded"}


def test_an_unknown_branch_is_told_what_cuda_needs() -> None:
    found = resolve(platform("a100"), Policy(driver="460", cuda="12"), load.own(), TODAY)
    assert isinstance(found, Refusal)
    assert "12 >=525.60.13" in found.other
