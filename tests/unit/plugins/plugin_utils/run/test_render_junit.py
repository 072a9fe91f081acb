# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written is parsed as XML, and held against the structure of Jenkins' junit-10.xsd.

The table below says what that schema (jenkinsci/xunit-plugin, read 2026-11-22) allows; no validator
of XML schemas is among our tools.
"""

from __future__ import annotations

import copy
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.render_junit import render
from tests.unit import runs

# By element: its attributes (required ones marked), and its children.
SUITE = {"name!", "tests!", "failures!", "errors!", "group", "time", "skipped", "timestamp"}
SCHEMA: dict[str, tuple[set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {*SUITE, "hostname", "id", "package", "file", "log", "url"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name!", "value!"}, set()),
    "testcase": (
        {"name!", "time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    **{one: ({"type", "message"}, set()) for one in ("failure", "error", "skipped")},
}
MIXED = {"failure", "error", "skipped"}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?")


def valid(element: ElementTree.Element) -> None:
    """An AssertionError where the schema does not allow it."""
    attributes, children = SCHEMA[element.tag]
    known = {name.rstrip("!") for name in attributes}
    assert set(element.attrib) <= known, element.tag
    assert {name[:-1] for name in attributes if name.endswith("!")} <= set(element.attrib)
    if "time" in element.attrib:
        assert TIME.fullmatch(element.attrib["time"])
    if element.tag not in MIXED:
        assert not (element.text or "").strip()
    assert not (element.tail or "").strip()
    for child in element:
        assert child.tag in children, f"{child.tag} in {element.tag}"
        valid(child)


def parsed(report: dict[str, Any]) -> ElementTree.Element:
    text = render(report)
    root = ElementTree.fromstring(text.encode())
    valid(root)
    return root


def counted(suite: ElementTree.Element) -> tuple[int, ...]:
    return tuple(int(suite.attrib[one]) for one in ("tests", "failures", "errors", "skipped"))


def test_every_host_is_a_suite_and_every_check_a_case() -> None:
    root = parsed(runs.run(runs.MIXED))
    suites = {one.attrib["name"]: one for one in root}
    assert {name: counted(one) for name, one in suites.items()} == {
        "n1": (2, 0, 0, 1),
        "n2": (2, 1, 1, 0),
        "n3": (2, 1, 0, 1),
    }
    assert root.attrib["tests"] == "6"
    assert (root.attrib["failures"], root.attrib["errors"]) == ("2", "1")
    failed = suites["n2"].find("testcase/failure")
    assert failed is not None
    assert failed.attrib == {"message": "Down, expected Active", "type": "error"}
    assert "remedy: look at `ibstat`" in (failed.text or "")
    first = suites["n2"].find("testcase")
    assert first is not None
    assert first.attrib["classname"] == "n2.ib"
    assert first.attrib["name"] == "ib.port.state mlx5_0/1"
    assert suites["n1"].attrib["timestamp"] == "2026-11-22T19:41:00"


@pytest.mark.parametrize(
    "letter",
    [*map(chr, range(0x7F, 0xA0)), *"\u200e\u200f\u202a\u202e\u2066\u2069\u061c\u200b\u2028\ufeff\ue000", "\x1b"],
)
def test_a_terminal_that_shows_the_file_obeys_nobody(letter: str) -> None:
    report = copy.deepcopy(runs.run(runs.MIXED))
    for check in report["hosts"]["n2"]["checks"]:
        check.update(observed=f"a{letter}b", subject=f"c{letter}d", cause=f"e{letter}f")
    parsed(report)
    text = render(report)
    assert letter not in text
    assert "a\ufffdb" in text
    assert "c\ufffdd" in text


def test_a_warning_is_a_failure_and_says_that_it_is_one() -> None:
    failed = parsed(runs.run(runs.MIXED)).find("testsuite[@name='n3']/testcase/failure")
    assert failed is not None
    assert failed.attrib["type"] == "warning"


def test_what_could_not_be_looked_at_is_an_error_and_no_skip() -> None:
    one = parsed(runs.run(runs.MIXED)).find("testsuite[@name='n2']/testcase/error")
    assert one is not None
    assert one.attrib == {"message": "the cable is pulled", "type": "unknown"}


def test_a_waived_failure_is_skipped_with_its_reason() -> None:
    one = parsed(runs.run(runs.MIXED)).find("testsuite[@name='n3']/testcase/skipped")
    assert one is not None
    assert one.attrib["message"] == "waived until 2026-12-31: ordered"


def test_a_host_without_any_check_is_an_error() -> None:
    suite = parsed(runs.run({"n1": runs.judged()})).find("testsuite")
    assert suite is not None
    assert counted(suite) == (1, 0, 1, 0)


@pytest.mark.parametrize(
    ("told", "suites"),
    [
        (runs.fabric(runs.check("fail"), name="ib0"), {"fabric ib0": (1, 1, 0, 0)}),
        (runs.fabric(error="nobody could ask"), {"fabric": (1, 0, 1, 0)}),
        (runs.fabric(), {}),
    ],
    ids=["judged", "not asked", "none"],
)
def test_a_fabric_is_a_suite(told: dict[str, Any], suites: dict[str, Any]) -> None:
    root = parsed(runs.run({"n1": runs.MIXED["n1"]}, fabric=told))
    assert {one.attrib["name"]: counted(one) for one in root[1:]} == suites


@settings(deadline=None)
@given(runs.hostile())
def test_whatever_hosts_say_stays_text(report: dict[str, Any]) -> None:
    root = parsed(report)
    assert len(root) == len(report["hosts"]) + (len(report["fabric"]["fabrics"]) + bool(report["fabric"]["error"]))
    for suite, host in zip(root, report["hosts"].values(), strict=False):
        cases = suite.findall("testcase")
        assert len(cases) == (len(host["checks"]) or 1)
        assert counted(suite)[0] == len(cases)
        for kind, column in (("failure", 1), ("error", 2), ("skipped", 3)):
            assert len(suite.findall(f"testcase/{kind}")) == counted(suite)[column]


def test_line_ends_and_quotes_come_back_as_they_were() -> None:
    odd = 'a "b"\n\tc & <d> \r'
    root = parsed(runs.run({odd: runs.judged(runs.check("fail", observed=odd, expected=""))}))
    suite = root[0]
    failed = suite.find("testcase/failure")
    assert failed is not None
    assert suite.attrib["name"] == odd
    assert failed.attrib["message"] == odd
    assert (failed.text or "").startswith(f"seen: {odd}\n")
