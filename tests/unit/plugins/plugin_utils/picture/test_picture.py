# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of the report: all of it once, nothing foreign that is not escaped, bounded."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import (
    fabric as fabric_section,
    pings as pings_section,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.picture import (
    fabric_leaves,
    fabric_nodes,
    model,
    pings,
    ports,
    svg,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import drawn_fabrics as fabrics, pages, runs

NS = "{http://www.w3.org/2000/svg}"
STATES = ("slow", "errors", "down", "miscabled")
SMALL = fabrics.bent(fabrics.fat_tree(3, cables=2), *STATES)
LARGE = fabrics.bent(fabrics.fat_tree(2000, 8, 32, 16, 2), *STATES * 30)
HOSTILE = "</text><script>alert(1)</script>\x00\x1b[31m\"' onload='x' &amp; \ud800"


def tree(drawn: str) -> ET.Element:
    """The picture, which has to be sound XML without scripts and links."""
    root = ET.fromstring(drawn)
    for one in root.iter():
        assert one.tag.removeprefix(NS) in {*("svg", "title", "defs", "pattern", "rect", "path", "text", "g", "circle")}
        assert not any(name.lower().startswith("on") or "href" in name for name in one.attrib)
    return root


def classed(root: ET.Element, word: str) -> list[ET.Element]:
    return [one for one in root.iter() if word in one.get("class", "").split()]


def titles(some: list[ET.Element]) -> list[str]:
    return [next(one.iter(f"{NS}title")).text or "" for one in some]


def texts(root: ET.Element) -> list[str]:
    return [one.text or "" for one in root.iter(f"{NS}text")]


def test_every_node_and_every_link_of_a_small_fabric_is_drawn_once() -> None:
    root = tree(fabric_nodes.draw(model.read(SMALL), "f"))
    nodes = titles(classed(root, "node"))
    assert len(nodes) == len(SMALL["nodes"])
    for one in SMALL["nodes"]:
        assert sum(said.endswith(one["guid"]) for said in nodes) == 1
    links = classed(root, "link")
    assert len(set(titles(links))) == len(links) == len(SMALL["links"])
    found = Counter(one.get("class", "").split()[1] for one in links)
    assert found == Counter(one["state"] for one in SMALL["links"])


def test_what_is_not_well_has_a_sign_a_reason_and_a_place_in_the_legend() -> None:
    root = tree(fabric_nodes.draw(model.read(SMALL), "f"))
    for state in STATES:
        (mine,) = classed(root, state)
        assert svg.LOOKS[state].sign in texts(mine)
        assert f"because of <{state}>" in titles([mine])[0]
        assert svg.LOOKS[state].says in texts(root)
    assert all(not texts(one) for one in classed(root, "ok"))


def test_an_adapter_of_nobody_is_drawn_and_told_apart() -> None:
    fabric = fabrics.fat_tree(2)
    stranger = {"guid": "0xdead", "name": "other HCA", "type": "ca", "leaf": fabrics.guid(1, 1)}
    fabric["nodes"].append(stranger)
    root = tree(fabric_nodes.draw(model.read(fabric), "f"))
    (said,) = (one for one in titles(classed(root, "adapter")) if "0xdead" in one)
    assert "of no host of the inventory" in said
    assert "?" in texts(root)


def test_a_large_fabric_is_drawn_by_leaf_with_every_switch_once_and_in_bounds() -> None:
    fabric = model.read(LARGE)
    assert not fabric_nodes.fits(fabric)
    drawn = fabric_leaves.draw(fabric, "f")
    heat = ports.draw(fabric, "p")
    assert len(drawn) < 300_000
    assert len(heat) < 500_000
    root = tree(drawn)
    switches = [one for one in LARGE["nodes"] if one["type"] == "switch"]
    drawn_switches = sum(int(one.get("data-switches", "0")) for one in classed(root, "node"))
    assert drawn_switches == len(switches) == 8 * 63 + 16
    assert "2,000 hosts, 32,128 links" in " ".join(texts(root))
    assert {f"leaves of rail {rail}" for rail in range(1, 9)} <= set(texts(root))
    assert len(classed(root, "bundle")) <= fabric_leaves.LINES


def test_of_more_switches_than_there_is_room_for_some_stand_for_several() -> None:
    fabric = model.read(fabrics.fat_tree(2400, 1, 4, 1))
    root = tree(fabric_leaves.draw(fabric, "f"))
    squares = [int(one.get("data-switches", "0")) for one in classed(root, "node")]
    assert sum(squares) == 601
    assert len(squares) <= fabric_leaves.SQUARES + 1


def test_between_all_switches_of_a_middle_fabric_every_link_is_in_one_line() -> None:
    raw = fabrics.bent(fabrics.fat_tree(64, 4, 16, 4, 2), *STATES)
    root = tree(fabric_leaves.draw(model.read(raw), "f"))
    lines = classed(root, "bundle")
    assert sum(int(one.get("data-links", "0")) for one in lines) == 16 * 4 * 2
    (bad,) = (one for one in classed(root, "node") if "X" in "".join(texts(one)))
    assert "leaf001" in texts(bad)


def test_every_port_of_every_switch_is_in_the_heat_map() -> None:
    root = tree(ports.draw(model.read(SMALL), "p"))
    assert len(classed(root, "row")) == 4
    # A cable between two switches is at both of them, one to an adapter at one.
    states = Counter(one.get("class", "").split()[1] for one in classed(root, "cell"))
    assert states == {"slow": 1, "errors": 2, "down": 2, "miscabled": 1}
    (good,) = classed(root, "cells")
    wide = [int(one.partition("v")[0]) for one in good.get("d", "").split("h")[1:] if "v" in one]
    assert sum(wide) // 14 == 6 + 2 * 8 - 6
    assert "no cable" in texts(root)


def test_switches_with_bad_links_are_drawn_first_where_there_are_too_many() -> None:
    raw = fabrics.fat_tree(2000, 1, 4, 1)
    raw["links"][-1]["state"] = "down"
    root = tree(ports.draw(model.read(raw), "p"))
    assert len(classed(root, "row")) == 2
    assert len(classed(root, "cell")) == 2
    assert any("switches are OK" in one for one in texts(root))


def square(raw: dict[str, Any]) -> ET.Element:
    read = pings.read(raw)
    assert read is not None
    return tree(pings.draw(read, "r"))


def area(root: ET.Element, fill: str) -> float:
    """How many cells of a matrix have this fill."""
    return sum(
        int(stroke.partition("v")[0]) / int(stroke.partition("v")[2].partition("h")[0])
        for one in classed(root, "cells")
        if one.get("fill") == fill
        for stroke in one.get("d", "").replace("h-", "H").split("h")[1:]
        for stroke in [stroke.replace("H", "h")]
    )


def test_what_was_not_tested_looks_otherwise_than_what_is_good() -> None:
    raw = fabrics.matrix(6)
    fabrics.untested(raw, 0, 5)
    fabrics.untested(raw, 0, 4)
    fabrics.lost(raw, 1, 2, 40)
    fabrics.lost(raw, 3, 4, 100)
    root = square(raw)
    assert area(root, "url(#r)") == 2
    assert area(root, "#dfe3e8") == 6
    assert sum(area(root, blue) for blue in pings._BLUES) == 36 - 6 - 2 - 2
    reported = titles(classed(root, "cell"))
    assert reported == [
        "node4 to node5: 1 of 1 pairs tested, 1 bad, 100 % lost at most",
        "node2 to node3: 1 of 1 pairs tested, 1 bad, 40 % lost at most",
    ]
    assert {"not tested", "some lost", "at least one pair did not answer", "itself"} <= set(texts(root))


def test_nothing_tested_is_nothing_good() -> None:
    raw = fabrics.matrix(4)
    for row in range(4):
        for column in range(4):
            fabrics.untested(raw, row, column)
    root = square(raw)
    assert area(root, "url(#r)") == 12
    assert not any(area(root, blue) for blue in pings._BLUES)


def test_the_widest_matrix_is_bounded_whatever_is_wrong_in_it() -> None:
    raw = fabrics.matrix(64, "leaf", 32)
    for row in range(64):
        for column in range(64):
            fabrics.lost(raw, row, column, 7)
    root = square(raw)
    assert len(classed(root, "cell")) == pings.CELLS
    assert any("400 of 4,096 problem cells" in one for one in texts(root))


@pytest.mark.parametrize(
    "bent",
    [
        {"rows": ["a"] * 65},
        {"rows": ["a", "b"]},
        {"tested": None},
        {"loss": [["x"] * 3] * 3},
        {"size": [1, 1]},
        {"size": [0, 1, 1]},
    ],
)
def test_a_matrix_of_another_shape_is_not_drawn_and_said(bent: dict[str, Any]) -> None:
    raw = {**fabrics.matrix(3), **bent}
    assert pings.read(raw) is None
    html = told(pings_section, {"ping_matrix": [raw]})
    assert "The matrix of this rail cannot be read." in html
    assert pictures(html) == []


def told(module: Any, run: dict[str, Any]) -> str:
    """What a section of the page is."""
    found: environment.Section | None = module.section(run, Speech())
    assert found is not None
    return str(found.html)


def pictures(html: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", html, re.DOTALL)


REPORT: dict[str, Any] = {
    **{"schema": "ibready/report/2", "created": "now", "ibready": "0.1.0", "simulated": ""},
    **{"hosts": {}, "pings": [], "tcp": []},
}


def test_a_page_without_fabric_and_pings_says_that_nobody_asked() -> None:
    said = pages.words(REPORT)
    assert "This run did not query the fabric" in said
    assert "This run planned no pings" in said
    assert pictures(told(fabric_section, REPORT) + told(pings_section, REPORT)) == []


def test_a_fabric_that_could_not_be_asked_says_why() -> None:
    said = pages.words({**REPORT, "fabric": {"fabrics": [], "error": "no <umad>"}})
    assert "Fabric unknown: no <umad>" in said
    assert "did not query" not in said


def test_a_run_that_found_no_fabric_says_so() -> None:
    said = pages.words({**REPORT, "fabric": {"fabrics": [], "error": "", "skipped": ""}})
    assert "Fabric unknown: no fabric was found" in said


def test_what_could_not_be_looked_at_of_a_fabric_is_told() -> None:
    check = runs.check("unknown", "fabric.cable.width", "leaf001", cause="no answer").to_dict()
    fabric = {**SMALL, "verdict": "unknown", "checks": [check]}
    html = told(fabric_section, {"fabric": {"fabrics": [fabric], "error": ""}})
    assert "fabric.cable.width" in html
    assert "no answer" in html


@pytest.mark.parametrize("state", [None, "", "good", 7])
def test_a_link_whose_state_nobody_knows_is_not_drawn_as_a_good_one(state: Any) -> None:
    fabric = {**SMALL, "links": [{**one, "state": state} for one in SMALL["links"]]}
    assert {one.state for one in model.read(fabric).links} == {"unknown"}


def test_a_fabric_that_was_skipped_says_why_and_is_not_unknown() -> None:
    said = pages.words({**REPORT, "fabric": {"fabrics": [], "error": "", "skipped": "no HCA"}})
    assert "Skipped: no HCA" in said
    assert "Fabric unknown" not in said


def test_the_page_shows_pictures_checks_and_bad_links() -> None:
    check = {"id": "fabric.cable.width", "subject": "leaf001 <1>", "result": "fail"}
    check |= {"severity": "error", "observed": "1x", "expected": "4x", "expected_from": ""}
    check |= {"cause": "a cable", "remedy": "swap it", "evidence": {}, "waived": ""}
    fabric = {**SMALL, "verdict": "not_ready", "checks": [check, {**check, "result": "pass"}]}
    run = {"fabric": {"fabrics": [fabric], "error": ""}, "ping_matrix": [fabrics.matrix(3)]}
    html = told(fabric_section, run)
    assert len(pictures(html)) == 2
    assert len(pictures(told(pings_section, run))) == 1
    assert html.count("fabric.cable.width") == 1
    said = pages.words({**REPORT, **run})
    assert "leaf001 <1>" in said
    assert "4 links with a problem" in said
    assert "because of <slow>" in said


def test_hostile_names_stay_text() -> None:
    fabric = fabrics.fat_tree(3)
    for one in (*fabric["nodes"], *fabric["links"]):
        for key in ("name", "host", "hca", "why", "speed", "type", "level", "leaf"):
            if one.get(key) and one[key] != "switch":
                one[key] = HOSTILE
    fabric |= {"name": HOSTILE, "asked": HOSTILE, "verdict": HOSTILE}
    raw = {**fabrics.matrix(3), "rows": [HOSTILE] * 3, "rail": HOSTILE, "by": HOSTILE}
    run = {"fabric": {"fabrics": [fabric], "error": HOSTILE}, "ping_matrix": [raw]}
    seen = pages.parse(page.render({**REPORT, **run}))
    assert [one.attributes.get("type", "") for one, _ in seen.raw] == ["", "text/plain", ""]
    assert not any("onload" in one.attributes for one in seen.elements)
    drawn = pictures(told(fabric_section, run) + told(pings_section, run))
    assert len(drawn) == 2
    for one in drawn:
        tree(one)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.text(max_size=6),
    lambda some: (
        st.lists(some, max_size=3)
        | st.dictionaries(st.sampled_from(sorted({*SMALL["nodes"][0], *SMALL["links"][0]})), some)
    ),
    max_leaves=20,
)
NODE = st.fixed_dictionaries(
    {"guid": st.sampled_from("abc")},
    optional={name: ANY for name in ("name", "type", "host", "rail", "level", "leaf")},
)
LINK = st.fixed_dictionaries(
    {"a": st.sampled_from("abcd"), "b": st.sampled_from("abcd")},
    optional={name: ANY for name in ("a_port", "b_port", "state", "why", "width")},
)


@settings(max_examples=60)
@given(st.lists(NODE | ANY, max_size=5), st.lists(LINK | ANY, max_size=6), ANY)
def test_whatever_is_told_the_pictures_are_sound(nodes: Any, links: Any, other: Any) -> None:
    raw = {"nodes": nodes, "links": links, "name": other, "checks": []}
    for fabric in ({"fabrics": [raw, other]}, other):
        run = {"fabric": fabric, "ping_matrix": [other, {"rows": other}]}
        for drawn in pictures(told(fabric_section, run) + told(pings_section, run)):
            tree(drawn)
    one = model.read(raw)
    tree(fabric_leaves.draw(one, "f"))


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_runs_hold_each_cell_once(cells: set[tuple[int, int]]) -> None:
    found = set()
    for one in svg.runs(cells, 10, 100, 200).split("M")[1:]:
        place, width, *_ = one.split("h")
        left, top = map(int, place.split())
        for at in range(int(width.partition("v")[0]) // 10):
            cell = ((top - 200) // 10, (left - 100) // 10 + at)
            assert cell not in found
            found.add(cell)
    assert found == cells


def test_names_are_in_the_order_in_which_people_count() -> None:
    names = ["node10", "node9", "node1", "a", "", "node1b"]
    assert sorted(names, key=model.natural) == ["", "a", "node1", "node1b", "node9", "node10"]
