# SPDX-License-Identifier: GPL-3.0-or-later
"""The page without a mouse: Tab, arrows, Enter and Escape; the focus is seen, and comes back."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.looking import filtered, hosts, settled

MANY = 400


def focused(page: Page) -> Any:
    """What has the focus."""
    return page.evaluate(
        """() => {
          const one = document.activeElement, row = one.closest("#grid tr");
          return {tag: one.tagName, id: one.id, text: one.innerText, name: one.ariaLabel || "",
            href: one.getAttribute("href") || "", host: row ? row.cells[0].innerText : "",
            seen: one.matches(":focus-visible")
              && getComputedStyle(one).outlineStyle !== "none"};
        }"""
    )


def stops(page: Page) -> list[Any]:
    """Where Tab goes, from the top until it leaves the page."""
    found: list[Any] = []
    while len(found) < MANY:
        page.keyboard.press("Tab")
        now = focused(page)
        if now["tag"] == "BODY":
            break
        found.append(now)
    return found


def at_the_grid(page: Page) -> Page:
    """Tab into the grid, from the last control before it."""
    page.locator("#csv").focus()
    page.keyboard.press("Tab")
    assert focused(page)["host"], "Tab does not lead into the grid"
    return page


def test_the_first_stop_skips_to_the_report(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    assert focused(page)["href"] == "#main"
    expect(page.locator(".skip-link")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_tab_reaches_every_control_and_the_grid_is_one_stop(open_page: Open) -> None:
    page = open_page()
    found = stops(page)
    assert len(found) < MANY
    ids = [one["id"] for one in found]
    for control in ("theme", "language", "filter", "filter-verdict", "filter-area", "sort"):
        assert ids.count(control) == 1, control
    assert sum(bool(one["host"]) for one in found) == 1
    assert [one for one in found if not one["seen"]] == []


def test_a_cause_unfolds_and_leads_to_a_host_and_back(open_page: Open) -> None:
    page = open_page()
    summary = page.locator("#causes details summary").first
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    while not focused(page)["href"].startswith("#host="):
        page.keyboard.press("Tab")
    link = focused(page)
    page.keyboard.press("Enter")
    expect(page.locator("#host")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('#host') !== null")
    page.keyboard.press("Escape")
    expect(page.locator("#host")).to_be_hidden()
    assert focused(page) == link


def test_arrows_move_in_the_grid_and_enter_opens_what_is_there(open_page: Open) -> None:
    page = at_the_grid(open_page())
    first = focused(page)["host"]
    page.keyboard.press("ArrowDown")
    second = focused(page)["host"]
    assert second != first
    page.keyboard.press("ArrowUp")
    assert focused(page)["host"] == first
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    cell = focused(page)
    assert (cell["tag"], cell["host"]) == ("TD", first)
    assert cell["name"]
    expect(page.locator("#grid-said")).to_contain_text(first)
    page.keyboard.press("Enter")
    expect(page.locator("#host")).to_be_visible()
    expect(page.locator("#host-name")).to_contain_text(first)
    page.keyboard.press("Escape")
    assert focused(page) == cell


def test_home_end_and_pages_reach_hosts_that_are_not_drawn_yet(open_page: Open) -> None:
    page = open_page("500-hosts")
    assert len(hosts(page)) < 100
    at_the_grid(page)
    first = focused(page)["host"]
    page.keyboard.press("Control+End")
    settled(page)
    last = focused(page)["host"]
    assert last not in ("", first)
    page.keyboard.press("ArrowDown")
    assert focused(page)["host"] == last
    page.keyboard.press("PageUp")
    settled(page)
    assert focused(page)["host"] not in ("", last)
    page.keyboard.press("Control+Home")
    settled(page)
    assert focused(page)["host"] == first


def test_a_column_sorts_from_the_keyboard(open_page: Open) -> None:
    page = at_the_grid(open_page())
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    assert focused(page)["text"] == "Host"
    page.keyboard.press("Enter")
    settled(page)
    rows = page.locator("#grid tbody tr:not([aria-hidden]) th").all_inner_texts()
    assert rows == sorted(rows)
    assert focused(page)["text"] == "Host"


def test_a_slash_goes_to_the_filter(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("node07")
    settled(page)
    assert hosts(page) == {"node07"}
    assert focused(page)["id"] == "filter"


def test_an_empty_grid_does_not_catch_the_focus(open_page: Open) -> None:
    page = open_page()
    filtered(page, "zzz")
    page.locator("#filter-clear").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert focused(page)["id"] == "filter-clear"


def test_the_language_and_the_theme_keep_the_focus(open_page: Open) -> None:
    page = open_page()
    for control in ("language", "theme"):
        page.locator(f"#{control}").focus()
        page.keyboard.press("Enter")
        assert focused(page)["id"] == control
