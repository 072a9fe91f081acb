# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures in the docs show the page of today; ``--pictures`` takes them anew."""

from __future__ import annotations

import struct

import pytest
from playwright.sync_api import Page

from tests.browser import pictures
from tests.browser.conftest import Open
from tests.browser.looking import settled

PAGES = ("README.md", "README.zh-CN.md", "docs/report.md")
NEXT = "next: ./run browser --pictures, and look at them"


def opened(open_page: Open, name: str) -> Page:
    picture = pictures.PICTURES[name]
    page = open_page(picture.run, picture.at, **picture.wishes)
    settled(page)
    return page


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_shows_the_page_of_today(open_page: Open, name: str, request: pytest.FixtureRequest) -> None:
    page = opened(open_page, name)
    if request.config.getoption("--pictures"):
        pictures.take(page, name)
    path = pictures.FOLDER / f"{name}.png"
    assert path.exists(), f"{path} is missing; {NEXT}"
    assert pictures.held(path) == pictures.shown(page), NEXT


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_whole_small_and_as_large_as_the_window(name: str) -> None:
    path = pictures.FOLDER / f"{name}.png"
    found = list(pictures.chunks(path))
    width, height = struct.unpack_from(">II", found[0][1])
    assert (width, height) == tuple(pictures.SIZE.values())
    assert path.stat().st_size < pictures.MOST_BYTES
    # One colour packs to far less.
    assert sum(len(data) for kind, data in found if kind == b"IDAT") > 10_000


def test_the_pictures_tell_that_it_is_simulated() -> None:
    for name in pictures.PICTURES:
        said = " ".join(pictures.held(pictures.FOLDER / f"{name}.png")["words"])
        assert "Simulated:" in said or "模拟" in said, name


def test_there_is_no_picture_that_nobody_takes_or_shows() -> None:
    there = {path.stem for path in pictures.FOLDER.glob("*.png")}
    assert there == set(pictures.PICTURES)
    text = "".join((pictures.ROOT / page).read_text() for page in PAGES)
    assert {name for name in there if f"pictures/{name}.png" in text} == there
