# SPDX-License-Identifier: GPL-3.0-or-later
"""The page as a screen reader tells it: roles, names, headings, languages."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open

# Roles of what one can do something with, or jump to; each needs a name.
NAMED = "button link textbox searchbox combobox checkbox dialog navigation region grid img"
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def shown(page: Page, language: str) -> Page:
    """The page in this language."""
    if page.locator("html").get_attribute("lang") != language:
        page.locator("button#language").click()
    expect(page.locator("html")).to_have_attribute("lang", language)
    return page


def told(page: Page, inside: str = "body") -> list[str]:
    """Each line of the accessibility tree: ``- button "Theme: auto"``."""
    return page.locator(inside).aria_snapshot().splitlines()


def unnamed(lines: list[str]) -> list[str]:
    """What has a role of NAMED and no name."""
    roles = "|".join(NAMED.split())
    return [one for one in lines if re.match(rf"\s*- ({roles})(:|$)", one)]


@LANGUAGES
def test_everything_that_can_be_used_has_a_name(open_page: Open, language: str) -> None:
    page = shown(open_page(), language)
    lines = told(page)
    assert unnamed(lines) == []
    for role in ("button", "link", "searchbox", "combobox", "grid", "navigation"):
        assert any(f"- {role} " in one for one in lines), role
    page.goto(page.url.partition("#")[0] + "#host=node07")
    expect(page.locator("#host")).to_be_visible()
    assert unnamed(told(page, "#host")) == []


def test_controls_have_labels_in_the_language_of_the_page(open_page: Open) -> None:
    page = open_page()
    names = [page.locator(f"#{one}").evaluate(_NAME) for one in _CONTROLS]
    shown(page, "zh")
    chinese = [page.locator(f"#{one}").evaluate(_NAME) for one in _CONTROLS]
    assert all(names)
    assert all(re.search("[\u4e00-\u9fff]", one) for one in chinese), chinese


_CONTROLS = ("filter", "filter-verdict", "filter-area")
# Of a label without what can be chosen below it.
_NAME = """
(one) => [...(one.labels[0] || one).childNodes].filter((part) => part !== one)
  .map((part) => part.textContent).join("").trim() || one.getAttribute("aria-label") || ""
"""


def test_there_are_landmarks_and_one_heading_of_the_first_level(open_page: Open) -> None:
    page = open_page()
    for role in ("banner", "main", "navigation", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.parametrize("script", [True, False])
def test_no_level_of_headings_is_left_out(open_page: Open, script: bool) -> None:
    page = open_page(java_script_enabled=script)
    levels = [
        int(one.evaluate("(heading) => heading.tagName")[1])
        for one in page.locator("main h1, main h2, main h3, main h4, main h5").all()
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels


def test_tables_have_headers_that_say_what_they_head(open_page: Open) -> None:
    page = open_page()
    assert page.locator("table").count() >= 1
    assert page.locator("table:not(:has(th))").count() == 0
    assert page.locator("th:not([scope])").count() == 0


def test_results_are_told_by_letters_and_words_not_by_colour_alone(open_page: Open) -> None:
    page = open_page()
    cells = page.locator("#grid tbody .cell")
    assert cells.count() > 16
    letters = set(cells.all_inner_texts())
    assert {"F", "f", "?", "·"} <= letters
    assert "" not in letters
    said = cells.evaluate_all("(all) => all.map((one) => one.ariaLabel)")
    assert {"pass", "fail", "fail (warning)", "unknown"} <= set(said)


def test_ids_are_unique(open_page: Open) -> None:
    page = open_page(at="#host=node07")
    expect(page.locator("#host")).to_be_visible()
    ids = page.locator("[id]").evaluate_all("(all) => all.map((one) => one.id)")
    assert sorted(ids) == sorted(set(ids))
