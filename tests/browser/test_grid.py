# SPDX-License-Identifier: GPL-3.0-or-later
"""Every cell of the grid is what the run says of that host and check, and nothing looks like a pass
that is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser import runs
from tests.browser.conftest import Open
from tests.browser.looking import columns, filtered, settled

# From nothing to the worst.
_DASH = "\N{EN DASH}"
SIGNS = ("", _DASH, "·", "W", "?", "f", "F")
_OF = {"pass": "·", "skip": _DASH, "unknown": "?"}


def sign(check: Mapping[str, Any]) -> str:
    """What one check has in a cell."""
    if check["waived"]:
        return "W"
    failed = "F" if check["severity"] == "error" else "f"
    return _OF.get(check["result"], failed)


def meant(host: Mapping[str, Any], ids: list[str]) -> list[str]:
    """The worst of each check; an unknown error stands before a failed warning."""
    found = dict.fromkeys(ids, "")
    weight = dict.fromkeys(ids, -1)
    for check in host["checks"]:
        reported = sign(check)
        blind = reported == "?" and check["severity"] == "error"
        mine = SIGNS.index("f") + 0.5 if blind else SIGNS.index(reported)
        if mine > weight[check["id"]]:
            found[check["id"]], weight[check["id"]] = reported, mine
    return [found[one] for one in ids]


def drawn(page: Page) -> dict[str, list[str]]:
    """The signs of the hosts that are in sight."""
    page.locator("select#filter-check").select_option("all")
    settled(page)
    rows: list[list[str]] = page.locator("#grid tbody tr:not([aria-hidden])").evaluate_all(
        "(all) => all.map((row) => [row.querySelector('th').textContent, "
        "...[...row.querySelectorAll('td.cell')].map((cell) => cell.textContent)])"
    )
    return {name: cells for name, *cells in rows}


def test_every_cell_is_the_worst_that_the_run_says(open_page: Open) -> None:
    page = open_page()
    found = drawn(page)
    ids = columns(page)
    hosts = runs.three_faults()["hosts"]
    assert {one["id"] for host in hosts.values() for one in host["checks"]} == set(ids)
    assert found == {name: meant(host, ids) for name, host in hosts.items()}


def test_of_a_host_that_is_off_nothing_looks_like_a_pass(open_page: Open) -> None:
    page = open_page("500-hosts")
    filtered(page, "node402")
    found = drawn(page)["node402"]
    cells = dict(zip(columns(page), found, strict=True))
    assert cells.pop("host.access.reachable") == "?"
    assert set(cells.values()) == {""}
    page.locator("#grid").get_by_role("link", name="node402", exact=True).click()
    host = page.locator("#host")
    expect(host.locator("#host-name")).to_contain_text("unknown")
    expect(host.locator(".finding")).to_have_count(1)
    expect(host).to_contain_text("Connection timed out")
    expect(host.get_by_text("No problems found")).to_have_count(0)


def test_a_waived_failure_is_neither_a_pass_nor_a_finding(open_page: Open) -> None:
    page = open_page("500-hosts")
    filtered(page, "node088")
    found = drawn(page)["node088"]
    assert dict(zip(columns(page), found, strict=True))["ib.port.rate"] == "W"
    page.locator("#grid").get_by_role("link", name="node088", exact=True).click()
    expect(page.locator("#host")).to_contain_text("everything that failed is waived")
    expect(page.locator("#host")).to_contain_text("RMA 1234")
