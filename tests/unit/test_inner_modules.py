# SPDX-License-Identifier: GPL-3.0-or-later
"""Which modules are for people, and that all others say that they are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in (ROOT / "plugins/modules").glob("*.py"))
GROUPS = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())["action_groups"]
# Those that judge a host or several, and what documents have people call by hand or in a playbook.
FOR_PEOPLE = {*GROUPS["verify"], "collect", "next_kernel", "node_facts", "run_lease"}
INNER = "ibready.cluster.inner"


def documented(module: str) -> list[str]:
    text = (ROOT / f"plugins/modules/{module}.py").read_text()
    found = re.search(r'DOCUMENTATION = r"""\n(.*?)"""', text, re.DOTALL)
    assert found
    fragments: list[str] = yaml.safe_load(found[1]).get("extends_documentation_fragment", [])
    return fragments


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_is_not_for_people_says_so(module: str) -> None:
    assert (INNER in documented(module)) is (module not in FOR_PEOPLE)


def test_somebody_calls_every_inner_module() -> None:
    places = [*(ROOT / "roles").rglob("*.yml"), *(ROOT / "playbooks").rglob("*.yml")]
    called = "".join(path.read_text() for path in places)
    assert [name for name in MODULES if name not in FOR_PEOPLE and f"ibready.cluster.{name}:" not in called] == []


def test_the_page_names_those_for_people() -> None:
    page = (ROOT / "docs/playbooks.md").read_text().partition("## Ad hoc")[2].partition("\n## ")[0]
    assert sorted(FOR_PEOPLE - set(re.findall(r"`([a-z_]+)`", page))) == []
