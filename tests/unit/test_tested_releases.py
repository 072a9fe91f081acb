# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever says which release lines of ansible-core are tested says those that are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.releases import TESTED

ROOT = Path(__file__).parents[2]
LINES = yaml.safe_load((ROOT / "tests/system/ansible-core.yml").read_text())
TOLD = ["README.md", "README.zh-CN.md", "galaxy.yml", "meta/runtime.yml", "docs/playbooks.md"]


def test_each_line_has_a_release_of_its_own() -> None:
    for kind in LINES.values():
        for line, row in kind.items():
            assert row["packages"]["ansible-core"].startswith(f"{line}."), line


def test_what_refuses_an_older_one_names_the_tested() -> None:
    assert list(TESTED) == list(LINES["tested"])
    assert not set(TESTED) & set(LINES["refused"])


@pytest.mark.parametrize("name", TOLD)
def test_who_names_them_names_all(name: str) -> None:
    text = (ROOT / name).read_text()
    assert re.findall(r"\b2\.\d\d, [\d., ]*\d", text) == [", ".join(TESTED)]


def test_the_oldest_is_what_is_required() -> None:
    required = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["requires_ansible"]
    assert required == f">={TESTED[0]}.0"


def test_what_a_controller_installs_is_of_a_tested_line() -> None:
    (pinned,) = re.findall(r"(?m)^ansible-core==(.*)$", (ROOT / "requirements.txt").read_text())
    assert pinned in [row["packages"]["ansible-core"] for row in LINES["tested"].values()]
