# SPDX-License-Identifier: GPL-3.0-or-later
"""The page in a narrow window, as on a phone or at 400 % zoom: nothing is cut off at the side."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Open


@pytest.mark.parametrize("name", ["three-faults", "500-hosts", "hostile"])
@pytest.mark.parametrize("width", [320, 768])
def test_only_parts_scroll_sideways(open_page: Open, name: str, width: int) -> None:
    page = open_page(name, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("location.hash = document.querySelector('#grid tbody th a').hash")
    host = page.locator("#host")
    host.wait_for()
    assert host.evaluate("(one) => one.scrollWidth - one.clientWidth") <= 0
