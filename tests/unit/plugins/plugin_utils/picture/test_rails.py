# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of many hosts' rails, and words of pictures in two languages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.picture import pings, rails, svg
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import words
from tests.unit import drawn_fabrics, runs

NS = "{http://www.w3.org/2000/svg}"
RAILS = [f"mlx5_{rail}/1" for rail in range(8)]


def drawn(looks: list[list[str]], names: list[str] | None = None) -> ET.Element:
    hosts = names or [f"node{at:04}" for at in range(len(looks))]
    return ET.fromstring(rails.draw(hosts, RAILS, looks, svg.said("picture.rails", name="x"), "r"))


def cells(root: ET.Element, colour: str) -> int:
    """How many cells have this colour."""
    found = 0
    for one in root.iter(f"{NS}path"):
        if one.get("class") == "cells" and colour in (one.get("stroke"), one.get("fill")):
            widths = re.findall(r"h(\d+)", one.get("d") or "")
            found += sum(map(int, widths)) // (1 if one.get("stroke") == colour else rails._SIDE)
    return found


def test_every_port_of_every_host_is_drawn_once() -> None:
    looks = [["ok"] * 8 for _ in range(250)]
    looks[7][3], looks[120][0], looks[249] = "fail", "odd", ["none"] * 8
    root = drawn(looks)
    assert cells(root, rails.LOOKS["ok"][0]) == 250 * 8 - 10
    assert cells(root, rails.LOOKS["fail"][0]) == 1
    assert cells(root, rails.LOOKS["odd"][0]) == 1
    assert cells(root, "url(#r)") == 8
    titles = [one.text for one in root.iter(f"{NS}title")]
    assert "node0007 mlx5_3/1" in titles
    assert "node0000 … node0099" in [one.text for one in root.iter(f"{NS}text")]


@pytest.mark.parametrize("look", ["fail", "odd", "unknown", "none", "waived", ""])
def test_nothing_looks_like_what_is_well(look: str) -> None:
    fill, sign = rails.LOOKS[look]
    assert fill != rails.LOOKS["ok"][0]
    # Colour alone tells nothing; of a port that is not there nothing is to be told.
    assert bool(sign) is bool(look)


def test_the_worst_of_2000_hosts_is_bounded_and_says_what_has_no_sign() -> None:
    looks = [["fail" if (at + rail) % 2 else "unknown" for rail in range(8)] for at in range(2000)]
    text = rails.draw([f"n{at}" for at in range(2000)], RAILS, looks, "", "r")
    assert len(text) < 280_000
    assert "300 of 16,000 problem cells have a sign" in text


@pytest.mark.parametrize("said", runs.NASTY, ids=repr)
def test_hostile_names_stay_text(said: str) -> None:
    root = drawn([["fail"] * 8, ["ok"] * 8], [said, f"{said}2"])
    assert not list(root.iter("script"))


def test_every_look_has_its_words() -> None:
    for state, look in svg.LOOKS.items():
        assert words()[f"picture.{state}"][0] == look.says


def test_a_picture_tells_the_script_which_words_are_the_pages() -> None:
    square = pings.read(drawn_fabrics.matrix(3))
    assert square is not None
    root = ET.fromstring(pings.draw(square, "r"))
    keys = {one.get("data-t") for one in root.iter() if one.get("data-t")}
    assert {"picture.pings", "picture.untested", "picture.answered_to"} <= keys
    assert all(key in words() for key in keys if key)
