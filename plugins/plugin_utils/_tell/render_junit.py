# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as JUnit XML, as Jenkins (its junit-10.xsd), GitLab and others read it.

A test suite a host and a fabric, a test case a check. A failure is one whether it is an error or a
warning (its ``type``): what a run exits with is ``report_fail_on``'s to say. ``unknown`` is an
error, never passed over; waived and skipped checks are skipped, with the reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ...module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check, from_dict

# What needs no second look. Of the others XML 1.0 cannot hold some, and a terminal that shows the file obeys some.
_OTHER = re.compile("[^\t\n\r\x20-\x7e]")
_OBEYED = {"Zl", "Zp"}
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTES = {**_IN_TEXT, **str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})}
_KINDS = ("tests", "failures", "errors", "skipped")
_KIND = {FAIL: "failures", UNKNOWN: "errors", SKIP: "skipped"}
_ELEMENT = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_NO_CHECK = "no check ran, so the state is unknown"
# No single check was timed.
_TIME = {"time": "0"}


def render(report: Mapping[str, Any]) -> str:
    """The whole document."""
    cases = _Cases()
    reported = [_suite(name, host, report, cases) for name, host in report["hosts"].items()]
    reported += list(_fabrics(report, cases))
    total = sum((counts for counts, _unused in reported), Counter[str]())
    # The schema has no `skipped` here.
    sums = {kind: str(total[kind]) for kind in _KINDS if kind != "skipped"}
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f"<testsuites{_attributes({'name': 'ibready', **sums, **_TIME})}>")
    for _unused, suite in reported:
        lines += suite
    return "\n".join([*lines, "</testsuites>", ""])


def _fabrics(report: Mapping[str, Any], cases: _Cases) -> Iterator[tuple[Counter[str], list[str]]]:
    reported = report.get("fabric") or {"fabrics": [], "error": ""}
    for fabric in reported["fabrics"]:
        name = "fabric" if fabric["name"] == "fabric" else f"fabric {fabric['name']}"
        yield _suite(name, fabric, report, cases)
    if reported["error"]:
        yield _suite("fabric", {"checks": [], "why": reported["error"]}, report, cases)


class _Cases:
    """A check's test case but for its suite's name: a fleet has the same check on every host."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, str]] = {}

    def __call__(self, raw: dict[str, Any]) -> tuple[str, str]:
        """Its kind, and what follows the name."""
        found = self._known.get(id(raw))
        if found is None:
            check = from_dict(raw)
            found = self._known[id(raw)] = (_kind(check), "\n".join(_case(check)))
        return found


def _suite(
    name: str, judged: Mapping[str, Any], report: Mapping[str, Any], known: _Cases
) -> tuple[Counter[str], list[str]]:
    checks = [known(check) for check in judged["checks"]]
    counts = Counter(kind for kind, _unused in checks if kind)
    counts["tests"] = len(checks)
    begun = _begun(name)
    cases = [f"{begun}{text}" for _unused, text in checks]
    if not checks:
        counts.update(tests=1, errors=1)
        cases = [begun + "\n".join(_blind(str(judged.get("why") or _NO_CHECK)))]
    reported = {kind: str(counts[kind]) for kind in _KINDS}
    place = {"name": name, **reported, **_TIME, "timestamp": _when(report), "hostname": name}
    properties = {"verdict": judged.get("verdict", ""), "ibready": report["ibready"]}
    if report["simulated"]:
        properties["simulated"] = report["simulated"]
    return counts, [
        f"<testsuite{_attributes(place)}>",
        "<properties>",
        *(f"<property{_attributes({'name': key, 'value': value})}/>" for key, value in properties.items() if value),
        "</properties>",
        *cases,
        "</testsuite>",
    ]


def _kind(check: Check) -> str:
    """Of _KINDS; "" for a check that passed."""
    return "skipped" if check.waived else _KIND.get(check.result, "")


def _begun(name: str) -> str:
    return f'<testcase classname="{_escaped(name, _IN_ATTRIBUTES)}'


def _place(area: str, name: str) -> str:
    return f'.{_escaped(area, _IN_ATTRIBUTES)}"{_attributes({"name": name, **_TIME})}'


def _case(check: Check) -> list[str]:
    place = _place(check.id.split(".")[0], f"{check.id} {check.subject}")
    kind = _kind(check)
    if check.result == PASS or not kind:
        return [f"{place}/>"]
    return _ended(place, _ELEMENT[kind], _message(check), _type(check), _body(check))


def _blind(why: str) -> list[str]:
    return _ended(_place("verdict", "verdict"), "error", why, UNKNOWN, [])


def _ended(place: str, element: str, message: str, kind: str, body: Sequence[str]) -> list[str]:
    said = _attributes({"message": message, "type": kind})
    text = _escaped("\n".join(body))
    return [f"{place}>", f"<{element}{said}>{text}</{element}>", "</testcase>"]


def _type(check: Check) -> str:
    if check.waived:
        return "waived"
    return check.severity if check.result == FAIL else check.result


def _message(check: Check) -> str:
    if check.waived:
        return f"waived {check.waived}"
    if check.result != FAIL:
        return check.cause
    return f"{check.observed}, expected {check.expected}" if check.expected else check.observed


def _body(check: Check) -> list[str]:
    if check.result == SKIP:
        return []
    named = (
        ("seen", check.observed),
        ("expected", f"{check.expected} (from {check.expected_from})" if check.expected else ""),
        ("cause", check.cause),
        ("remedy", check.remedy),
        *check.evidence.items(),
    )
    return [f"{name}: {text}" for name, text in named if text]


def _when(report: Mapping[str, Any]) -> str:
    """In UTC and without a zone, as the schema of Ant wants it."""
    created = datetime.fromisoformat(report["created"])
    return created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _attributes(values: Mapping[str, str]) -> str:
    return "".join(f' {name}="{_escaped(text, _IN_ATTRIBUTES)}"' for name, text in values.items())


def _escaped(text: str, escapes: Mapping[int, str] = _IN_TEXT) -> str:
    return _OTHER.sub(_shown, text).translate(escapes)


def _shown(match: re.Match[str]) -> str:
    """A letter, mark or sign as it is; of controls, of what has no shape and of what ends lines that there was one."""
    kind = unicodedata.category(match[0])
    return "\ufffd" if kind.startswith("C") or kind in _OBEYED else match[0]
