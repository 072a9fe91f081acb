# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution's Chromium, without a network, and pages of which every complaint is kept."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Route, sync_playwright

PROGRAM = "chromium"
WAIT_MS = 10_000
# Three hours after the runs of runs.py were judged.
NOW = "2026-11-22T22:41:00Z"
# Root cannot be kept in by Chromium's sandbox, which then refuses to start.
_AS_ROOT = ("--no-sandbox",)
_ARGUMENTS = ("--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")


class NoChromium(RuntimeError):
    """There is none to start."""


def program() -> str:
    """Where it is; raises NoChromium."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise NoChromium(f"there is no {PROGRAM} in PATH; next: ./run browser installs it")
    return found


@contextlib.contextmanager
def started() -> Iterator[Browser]:
    """One headless browser."""
    arguments = [*_ARGUMENTS, *(_AS_ROOT if os.geteuid() == 0 else ())]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program(), args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@dataclasses.dataclass
class Watched:
    """A page of a file, and what went wrong in it: console, errors, dialogs, other addresses."""

    page: Page
    url: str
    wrong: list[str] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.route("**/*", self._only_the_file)
        self.page.on("request", lambda one: self._asked(one.url))
        self.page.on("websocket", lambda one: self._asked(one.url))
        self.page.on("console", lambda one: self._said(one.type, one.text))
        self.page.on("pageerror", lambda one: self._keep("error", str(one)))
        self.page.on("dialog", self._dialog)
        self.page.on("popup", lambda one: self._keep("window", one.url))
        self.page.on("download", lambda one: self._keep("download", one.url))

    def _keep(self, kind: str, said: str) -> None:
        self.wrong.append(f"{kind}: {said}")

    def _asked(self, url: str) -> None:
        if url.partition("#")[0] != self.url:
            self._keep("request", url)

    def _only_the_file(self, route: Route) -> None:
        if route.request.url.partition("#")[0] == self.url:
            route.continue_()
        else:
            route.abort()

    def _said(self, kind: str, said: str) -> None:
        if kind in ("error", "warning", "assert"):
            self._keep(f"console {kind}", said)

    def _dialog(self, one: Any) -> None:
        self._keep("dialog", one.message)
        one.dismiss()


@contextlib.contextmanager
def opened(browser: Browser, path: Path, at: str = "", now: str = NOW, **wishes: Any) -> Iterator[Watched]:
    """The file in a window of its own; ``at``: ``#host=n1``. ``now``: what its clock says.

    ``wishes``: of new_context.
    """
    wishes = {"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", "timezone_id": "UTC", **wishes}
    context = browser.new_context(offline=True, service_workers="block", **wishes)
    context.set_default_timeout(WAIT_MS)
    try:
        watched = Watched(context.new_page(), path.as_uri())
        # The page tells the age of its data.
        watched.page.clock.set_fixed_time(now)
        watched.page.goto(path.as_uri() + at)
        if wishes.get("java_script_enabled", True):
            watched.page.wait_for_selector("html[data-script=on]", state="attached")
        yield watched
    finally:
        context.close()
