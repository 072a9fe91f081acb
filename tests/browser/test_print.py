# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on paper: what is folded on the screen is open, and nothing needs a mouse."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looking import every, filtered

_FOLDED = """
() => [...document.querySelectorAll("main details")].filter(
  (one) => [...one.children].some((child) => child.tagName !== "SUMMARY" && child.innerText.trim()
    && !child.checkVisibility())
).length
"""


def printed(page: Page) -> Page:
    """The page as the printer gets it."""
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    return page


def test_nothing_folded_is_hidden(open_page: Open) -> None:
    page = open_page()
    expect(page.locator("#causes .remedy").first).to_be_hidden()
    printed(page)
    for remedy in every(page, "#causes .remedy"):
        expect(remedy).to_be_visible()
    assert page.evaluate(_FOLDED) == 0


def test_nothing_folded_is_hidden_without_script(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    page.emulate_media(media="print")
    for remedy in every(page, "#causes .remedy"):
        expect(remedy).to_be_visible()


def test_the_grid_is_a_table_of_the_hosts_that_it_shows(open_page: Open) -> None:
    page = open_page()
    filtered(page, "node1")
    printed(page)
    expect(page.locator("#grid")).to_be_hidden()
    rows = page.locator("#paper tbody tr")
    expect(rows).to_have_count(7)
    expect(page.locator("#paper caption")).to_have_text("7 of 16 hosts")
    expect(rows.filter(has_text="node10")).to_contain_text("degraded")


def test_controls_are_not_printed(open_page: Open) -> None:
    page = printed(open_page())
    for control in every(page, "button, input, select, .skip-link"):
        expect(control).to_be_hidden()


def test_paper_is_white_in_the_dark_theme_too(open_page: Open) -> None:
    page = printed(open_page(color_scheme="dark"))
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
