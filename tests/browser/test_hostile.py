# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a run in which every text of a host wants to run something in the reader's browser.

That nothing was asked for, no dialog opened and the console has no error (so that no policy had to
stop anything) is seen by the fixture for every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import chromium, hostile
from tests.browser.conftest import Open
from tests.browser.looking import filtered, settled

# What the page itself never has.
FOREIGN = "img, iframe, object, embed, form, base, link, audio, video, math, meta[http-equiv=refresh], .evil"
_STRAY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
NAMES = list(hostile.run()["hosts"])


@pytest.fixture
def page(open_page: Open) -> Iterator[Page]:
    """The page; whatever a test did to it, nothing ran."""
    shown = open_page("hostile")
    yield shown
    assert_harmless(shown)


def assert_harmless(page: Page) -> None:
    settled(page)
    assert page.evaluate(f"typeof window.{hostile.FLAG}") == "undefined"
    assert page.locator(FOREIGN).count() == 0
    handlers = page.evaluate(
        "() => [...document.querySelectorAll('*')].flatMap((one) => "
        "[...one.attributes].map((mark) => mark.name)).filter((name) => name.startsWith('on'))"
    )
    assert handlers == []
    targets = page.locator("a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert all(one.startswith("#") for one in targets), targets
    assert page.locator("script").count() == 2
    assert page.locator("style").count() == 1
    stray = _STRAY.findall(page.evaluate("document.documentElement.textContent"))
    assert stray == []


def test_nothing_runs_when_it_is_opened_and_the_texts_are_there(page: Page) -> None:
    assert page.locator("#causes .cause").count() >= 5
    said = page.locator("body").inner_text()
    for payload in ("<script>window.ran=1</script>", "<img src=x onerror=window.ran=2>"):
        assert any(payload in one for one in hostile.texts(hostile.run()))
    assert "window.ran=" in said


@pytest.mark.parametrize("name", NAMES[:4] + [one for one in NAMES if "node07" in one])
def test_a_host_opens_by_its_link_and_is_shown_by_its_literal_name(page: Page, name: str) -> None:
    filtered(page, name.partition(" ")[0])
    page.locator("#grid tbody th a").first.click()
    host = page.locator("#host")
    expect(host).to_be_visible()
    shown = host.get_by_role("heading").first.inner_text()
    assert " ".join(name.split()) in " ".join(shown.split())


def test_every_host_can_be_opened(page: Page) -> None:
    links = page.locator("#grid tbody th a").all()
    assert len(links) == len(NAMES)
    for link in links:
        link.click()
        expect(page.locator("#host")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#host")).to_be_hidden()


def test_everything_unfolded_in_chinese_and_printed(page: Page) -> None:
    page.locator("button#language").click()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")


@pytest.mark.parametrize("payload", hostile.PAYLOADS)
def test_what_is_typed_into_the_filter_or_the_address_does_not_run(page: Page, payload: str) -> None:
    filtered(page, payload)
    address = page.url.partition("#")[0]
    page.evaluate("(one) => { location.hash = 'host=' + one }", payload)
    settled(page)
    page.evaluate("(one) => { location.hash = 'host=' + encodeURIComponent(one) }", payload)
    settled(page)
    assert page.url.startswith(address)


def test_nothing_of_it_does_anything_without_script(open_page: Open) -> None:
    page = open_page("hostile", java_script_enabled=False)
    assert page.locator(FOREIGN).count() == 0
    targets = page.locator("a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert all(one.startswith("#") for one in targets)
    assert "<script>window.ran=1</script>" in page.locator("body").inner_text()


@pytest.mark.parametrize("payload", hostile.RUNNING)
def test_the_policy_stops_what_should_slip_through(
    browser: Browser, page_of: Callable[[str], Path], tmp_path: Path, payload: str
) -> None:
    text = page_of("healthy").read_text()
    bent = tmp_path / "bent.html"
    bent.write_text(text.replace("<main", f"{payload}<main", 1))
    with chromium.opened(browser, bent) as watched:
        settled(watched.page)
        assert watched.page.evaluate(f"typeof window.{hostile.FLAG}") == "undefined"
        assert any("Content Security Policy" in one for one in watched.wrong), watched.wrong
