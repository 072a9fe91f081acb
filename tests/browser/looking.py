# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader sees of the page."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def filtered(page: Page, text: str) -> None:
    """Type into the filter."""
    page.locator("input#filter").fill(text)
    settled(page)


def settled(page: Page) -> None:
    """Wait for the frame after what was done."""
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => done()), 250))")


def every(page: Page, selector: str) -> list[Locator]:
    """What the page has of these, which is something: of nothing all is true."""
    found = page.locator(selector).all()
    assert found, f"the page has no {selector}"
    return found


def hosts(page: Page) -> set[str]:
    """The hosts that the grid shows."""
    settled(page)
    rows = page.locator("#grid tbody tr:visible th[scope=row]")
    return {one.strip() for one in rows.all_inner_texts()}


def columns(page: Page) -> list[str]:
    """The checks that the grid has columns for."""
    heads = page.locator("#grid thead .is-check button").all_inner_texts()
    return [one.strip() for one in heads]
