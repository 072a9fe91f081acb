# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.modules import node_facts

Run = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("check", [False, True], ids=["for real", "in check mode"])
def test_this_host_is_told_of_and_not_changed(run_module: Run, check: bool) -> None:
    result = run_module(node_facts.main, check=check)
    assert result["changed"] is False
    assert not result.get("failed")
    node = result["node"]
    assert node["hostname"] == platform.node()
    assert node["kernel"] == os.uname().release
    assert node["root"] is (os.geteuid() == 0)
    assert json.loads(json.dumps(node)) == node


def test_the_documented_facts_are_the_real_ones(run_module: Run) -> None:
    documented = yaml.safe_load(node_facts.RETURN)["node"]["contains"]
    assert set(run_module(node_facts.main)["node"]) == set(documented)


def test_an_argument_is_refused_for_there_is_none(run_module: Run) -> None:
    result = run_module(node_facts.main, gather_subset="all")
    assert result["failed"] is True
    assert "gather_subset" in result["msg"]
