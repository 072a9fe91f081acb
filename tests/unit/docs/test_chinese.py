# SPDX-License-Identifier: GPL-3.0-or-later
"""The Chinese README has the commands, links and names of the English one."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.unit.docs.markdown import ROOT, Page, page

ENGLISH = page(ROOT / "README.md")
CHINESE = page(ROOT / "README.zh-CN.md")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def typed(one: Page) -> list[tuple[str, str]]:
    """The blocks without their comments, which are translated."""
    return [(block.language, re.sub(r"[ \t]+#.*$", "", block.text, flags=re.MULTILINE)) for block in one.blocks]


def test_the_blocks_of_code_are_the_same_in_the_same_order() -> None:
    assert len(typed(ENGLISH)) > 7
    assert typed(CHINESE) == typed(ENGLISH)


def test_the_links_are_the_same_but_those_to_each_other() -> None:
    english, chinese = Counter(ENGLISH.links), Counter(CHINESE.links)
    assert english.pop("README.zh-CN.md") == 1
    assert chinese.pop("README.md") == 1
    assert chinese == english


def test_the_names_and_commands_in_the_text_are_the_same() -> None:
    assert Counter(CHINESE.spans) == Counter(ENGLISH.spans)


def test_the_headings_and_tables_are_as_many() -> None:
    for mark in ("# ", "## ", "### ", "| "):
        count = [sum(line.startswith(mark) for line in one.prose.splitlines()) for one in (ENGLISH, CHINESE)]
        assert count[0] == count[1], mark


@pytest.mark.parametrize("line", [one for one in CHINESE.prose.splitlines() if len(one) > 80])
def test_a_long_line_is_chinese(line: str) -> None:
    assert _HAN.search(line)
