# SPDX-License-Identifier: GPL-3.0-or-later
"""The page where JavaScript is off: what a mail client, a strict browser or an archive shows."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import causes
from tests.browser import runs
from tests.browser.conftest import Open
from tests.browser.looking import every


def first_screen(page: Page) -> str:
    return page.locator("#summary, #causes").evaluate_all("(found) => found.map((one) => one.innerText).join('\\n')")


def test_the_first_screen_tells_how_many_are_ready_what_is_wrong_and_what_to_do(
    open_page: Open,
) -> None:
    page = open_page(java_script_enabled=False)
    said = first_screen(page)
    assert "10 of 16 ready" in said
    for words in ("a rail has no link", "node07 mlx5_5/1 ⟷ leaf-1-6/7", "reseat the cable at both ends", "node[09-12]"):
        assert words in said
    assert "2026-11-22 19:41 UTC" in said
    expect(page.get_by_text(re.compile("Simulated:"))).to_be_visible()


def test_every_host_is_there_with_its_verdict_and_what_is_wrong(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    words = {"ready": "ready", "degraded": "degraded", "not_ready": "not ready"}
    for name, host in runs.three_faults()["hosts"].items():
        row = page.locator("#hosts tr").filter(has=page.get_by_text(name, exact=True)).first
        expect(row).to_be_visible()
        expect(row).to_contain_text(words[host["verdict"]])
        for check in host["checks"]:
            if check["result"] == "fail":
                expect(page.locator("#causes").get_by_text(check["id"]).first).to_be_attached()
    for cause in causes.causes(runs.three_faults()):
        expect(page.locator("#causes").get_by_text(cause.remedy.rpartition("`")[2]).first).to_be_attached()


def test_nothing_that_needs_the_script_can_be_tried(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    for control in every(page, "button, input, select"):
        expect(control).to_be_hidden()
