# SPDX-License-Identifier: GPL-3.0-or-later
"""What a newcomer meets in the README: what was never seen, a verify of the own hosts, an example that is of today."""

from __future__ import annotations

import re

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text
from tests.browser import runs
from tests.unit.docs import known
from tests.unit.docs.markdown import ROOT, Page, page, slug_of

READMES = [page(ROOT / name) for name in ("README.md", "README.zh-CN.md")]
GLOSSARY = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
VARIABLES = (ROOT / "docs/variables.md").read_text(encoding="utf-8")
_HEAD = re.compile(r"^## ", re.MULTILINE)
_ROW = re.compile(r"^\| \[`(\w+)`\]\(variables\.md#([\w-]+)\) \|", re.MULTILINE)


def text_of(readme: Page) -> str:
    return readme.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("readme", READMES, ids=lambda one: one.name)
def test_what_was_never_seen_stands_before_the_first_heading(readme: Page) -> None:
    before = _HEAD.split(text_of(readme))[0]
    assert "<!-- rigs -->" in before
    # Of the one paragraph that says what it is.
    assert len(before.partition("<!-- rigs -->")[0].strip().split("\n\n")) == 3


def test_it_is_read_in_a_few_minutes() -> None:
    assert 900 <= len(text_of(READMES[0]).split()) <= 1200
    assert [len(text_of(one).encode()) <= 9 * 1024 for one in READMES] == [True, True]


@pytest.mark.parametrize("readme", READMES, ids=lambda one: one.name)
def test_the_first_playbook_is_verify_of_the_own_hosts(readme: Page) -> None:
    typed = "\n".join(block.text for block in readme.blocks)
    first = re.search(r"^ansible-playbook .*$", typed, re.MULTILINE)
    assert first is not None
    assert first[0] == "ansible-playbook playbooks/verify.yml -i inventories/mine"
    assert typed.index(first[0]) < typed.index("./run demo")


def test_the_inventory_to_copy_is_one_that_is_taken() -> None:
    inventory = yaml.safe_load(_yaml(READMES[0]))
    assert set(inventory["all"]["vars"]) == {"ansible_user", "ansible_become"}
    [group] = inventory["all"]["children"].values()
    assert list(group["hosts"]) == ["gpu[01:16].cluster.example"]
    told = from_inventory(group["vars"]["ibready_expect"])
    assert told.values["hcas"].value == 8


def test_getting_started_has_the_same_inventory() -> None:
    assert _yaml(page(ROOT / "docs/getting-started.md")) == _yaml(READMES[0])


def _yaml(one: Page) -> str:
    return next(block.text for block in one.blocks if block.language == "yaml")


def test_the_example_is_what_verify_prints_today() -> None:
    """Of the hosts that the picture below it shows."""
    shown = next(block.text for block in READMES[0].blocks if block.language == "text")
    printed = iter(render_text.render(runs.three_faults()).splitlines())
    for line in shown.splitlines():
        if line != "...":
            assert line in printed, line


def test_there_are_ten_variables_and_each_is_where_its_link_leads() -> None:
    rows = _ROW.findall((ROOT / "docs/faq.md").read_text(encoding="utf-8"))
    assert len(dict(rows)) == 10
    for name, anchor in rows:
        assert name in known.VARIABLES
        assert f"`{name}`" in _section(anchor), name


def _section(anchor: str) -> str:
    """The text of docs/variables.md from this heading to the next."""
    parts = re.split(r"^#+ ", VARIABLES, flags=re.MULTILINE)
    [found] = (part for part in parts if slug_of(part.partition("\n")[0]) == anchor)
    return found


@pytest.mark.parametrize(
    "word",
    [
        *("rail", "HCA", "port", "LID", "GUID", "GID", "SM", "PKey", "fabric manager", "busbw"),
        *("`ready`", "`degraded`", "`not_ready`", "`unknown`", "`pass`", "`fail`", "`skip`"),
    ],
)
def test_the_glossary_has_the_words_of_a_report(word: str) -> None:
    first = [line.split(" | ")[0].removeprefix("| ") for line in GLOSSARY.splitlines() if line.startswith("| ")]
    assert any(word in re.split(r", ", entry) for entry in first)
