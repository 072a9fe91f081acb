# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve import rules
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import PREFIX, Policy, from_variables
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY, platform

REQUESTS = yaml.safe_load((Path(__file__).parent / "impossible.yml").read_text())


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_an_impossible_request_is_refused_by_the_right_rule(request_: dict[str, Any]) -> None:
    asked = dict(request_)
    rule, desired_settings = asked.pop("rule"), asked.pop("policy", {})
    policy = Policy(**desired_settings)
    host = platform(**asked)
    refused = resolve(host, policy, load.own(), TODAY)
    assert isinstance(refused, Refusal)
    assert refused.rule == rule
    assert refused.one
    assert refused.other
    assert refused.says
    assert refused.source
    if not refused.nearest:
        # Then no wish at all would help, or what would may have no packages here.
        anyhow = resolve(host, Policy(), load.own(), TODAY)
        assert isinstance(anyhow, Refusal) or {one.rule for one in anyhow.warnings} & {"DRIVER_SYSTEM", "RDMA_SYSTEM"}
        return
    # What is called the nearest goes, and it is reached by what the refusal says.
    now = {name.removeprefix(PREFIX): value for name, value in refused.change.items()}
    mended = from_variables({PREFIX + name: v for name, v in {**desired_settings, **now}.items() if v})
    found = resolve(host, mended, load.own(), TODAY)
    assert isinstance(found, Answer), found
    assert found.stack == refused.nearest
    assert not {one.rule for one in found.warnings} & {"DRIVER_SYSTEM", "RDMA_SYSTEM"}


def test_there_are_enough_of_them_and_they_cover_every_rule_that_refuses() -> None:
    assert len(REQUESTS) >= 40
    facts = load.own().all("rules.rules")
    refusing = {name for name in rules.names() if facts[name].get("effect") == "refuse" or facts[name].get("stops")}
    assert refusing == {one["rule"] for one in REQUESTS}
    assert set(rules.names()) == set(facts)
