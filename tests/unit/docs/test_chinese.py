# SPDX-License-Identifier: GPL-3.0-or-later
"""Every Chinese page has the commands, links and names of the English one beside it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.unit.docs.markdown import Page, page, pages

ZH = ".zh-CN"
PAIRS = [(page(one.path.with_name(one.path.name.replace(ZH, ""))), one) for one in pages() if ZH in one.name]
BOTH = {"", *(english.path.name for english, _ in PAIRS)}
_HAN = re.compile(r"[\u4e00-\u9fff]")
each = pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=lambda one: one.name)


def typed(one: Page) -> list[tuple[str, str]]:
    """The blocks without their comments, which are translated."""
    return [(block.language, re.sub(r"[ \t]+#.*$", "", block.text, flags=re.MULTILINE)) for block in one.blocks]


def led(one: Page) -> Counter[str]:
    """The targets of the links; of a page that is there in both languages without the heading, which is translated."""
    ends = [link.replace(".zh-CN.md", ".md").partition("#") for link in one.links]
    return Counter(path if path.rpartition("/")[2] in BOTH else path + mark + head for path, mark, head in ends)


@each
def test_code_links_and_names_are_the_same(english: Page, chinese: Page) -> None:
    assert typed(chinese) == typed(english) != []
    assert led(chinese) == led(english)
    assert Counter(chinese.spans) == Counter(english.spans)
    assert (english.links[0], chinese.links[0]) == (chinese.path.name, english.path.name)


@each
def test_the_headings_and_tables_are_as_many_and_long_lines_are_chinese(english: Page, chinese: Page) -> None:
    for mark in ("# ", "## ", "### ", "| "):
        count = [sum(line.startswith(mark) for line in one.prose.splitlines()) for one in (english, chinese)]
        assert count[0] == count[1], mark
    assert [line for line in chinese.prose.splitlines() if len(line) > 80 and not _HAN.search(line)] == []
