# SPDX-License-Identifier: GPL-3.0-or-later
"""One browser for all tests; a page that complains of anything fails the test that opened it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import rendered
from tests.browser import chromium, hostile, runs

Open = Callable[..., Page]

RUNS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "healthy": runs.healthy,
    "three-faults": runs.three_faults,
    "500-hosts": runs.five_hundred,
    "2000-hosts": runs.two_thousand,
    "hostile": hostile.run,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pictures", action="store_true", help="write docs/pictures anew")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The distribution's Chromium."""
    with chromium.started() as one:
        yield one


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of one of RUNS, written as a run writes it."""
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def write(name: str) -> Path:
        texts = rendered.render(RUNS[name](), ["html"])
        return Path(rendered.write(folder / name, texts)["html"])

    return write


@pytest.fixture
def open_page(browser: Browser, page_of: Callable[[str], Path]) -> Iterator[Open]:
    """Open the page of a run: ``open_page("healthy", "#host=n1", color_scheme="dark")``."""
    seen: list[chromium.Watched] = []
    with contextlib.ExitStack() as stack:

        def show(name: str = "three-faults", at: str = "", **wishes: Any) -> Page:
            seen.append(stack.enter_context(chromium.opened(browser, page_of(name), at, **wishes)))
            return seen[-1].page

        yield show
        assert [said for one in seen for said in one.wrong] == []
