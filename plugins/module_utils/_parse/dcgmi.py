# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``dcgmi diag -r``, ``dcgmi health -c`` and ``dcgmi nvlink -s`` print, and ``dcgmi diag -j``."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines, few, no_facts
from ._dcgmi import FAIL, FAILURE, HEALTHY, WARN, Incident, Test, row
from ._dcgmi_diag import Diag, of_json
from ._dcgmi_health import REPORT, Health
from ._dcgmi_nvlink import HEADING, Links, Reader

_TOOL = "dcgmi"
ERROR = "Error"
NOTHING: dict[str, Any] = {
    "version": None,
    "driver": None,
    "tests": [],
    "health": None,
    "incidents": [],
    "failed": None,
    "unread": 0,
}

_ASIDE = re.compile(
    r"Successfully ran diagnostic for group\.?|Running iteration \d{1,6} of \d{1,6}\.{3}|"
    r"Passed all \d{1,6} runs of the diagnostic"
)
_COMPLAINT = re.compile(
    r"Error: (?:Unable to (?:complete diagnostic|(?:check|get|set) health watches)|Diagnostic c(?:an|ould)|"
    r"Health watches not enabled|[Uu]nable to establish a connection to the specified host).{0,300}"
)
_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")


@dataclass(frozen=True)
class Dcgmi:
    """``tests``: of a diag. ``health`` and ``incidents``: of a health check. ``links``: of a listing of NVLinks.
    ``failed``: why there is none of these."""

    version: str = ""
    driver: str = ""
    tests: tuple[Test, ...] = ()
    health: str = ""
    incidents: tuple[Incident, ...] = ()
    failed: str = ""
    unread: int = 0
    cut: bool = False
    links: tuple[Links, ...] = ()


def parse(text: str) -> Dcgmi:
    """Read the output; raise ParseError where it tells no test, no health and no error of dcgmi."""
    return _json(text) if text.lstrip().startswith("{") else _table(text)


def _table(text: str) -> Dcgmi:
    lines = clean_lines(text)
    diag, health, nvlink = Diag(), Health(), Reader()
    failed, unread = "", 0
    is_health = False
    for line in lines:
        flat = " ".join(line.split())
        if flat.strip("| ") == REPORT:
            is_health = True
            continue
        if flat.strip("| ") == HEADING or nvlink.take(flat):
            continue
        told = row(line)
        if told is not None:
            (health if is_health else diag).take(told)
        elif _COMPLAINT.fullmatch(flat):
            failed = failed or flat
        elif flat and not _ASIDE.fullmatch(flat):
            unread += 1
    tests = diag.tests
    links = tuple(nvlink.links)
    if not tests and not health.overall and not failed and not links:
        raise no_facts(_TOOL, lines, "neither a diag's table nor a health report")
    # Every table ends with a rule.
    cut = not health.ended if is_health else bool(tests) and not diag.ended
    unread += diag.unread + health.unread
    return Dcgmi(diag.version, diag.driver, tests, health.overall, health.incidents, failed, unread, cut, links)


def _json(text: str) -> Dcgmi:
    first = text.strip().split("\n", 1)[0]
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ParseError(_TOOL, 1, first, "this JSON cannot be read") from exc
    told = next((read[name] for name in _ROOTS if name in read), None) if isinstance(read, dict) else None
    if not isinstance(told, dict):
        raise ParseError(_TOOL, 1, first, "no diagnostic of DCGM")
    tests, failed = of_json(told), told.get("runtime_error")
    if not tests and not isinstance(failed, str):
        raise ParseError(_TOOL, 1, first, "no test and no error")
    about = {**told, **told["metadata"]} if isinstance(told.get("metadata"), dict) else told
    version, driver = (
        next((about[name] for name in names if isinstance(about.get(name), str)), "")
        for names in (("version", "DCGM Version"), ("driver_version", "Driver Version Detected"))
    )
    return Dcgmi(version, driver, tests, failed=failed if isinstance(failed, str) else "")


def facts(parsed: Dcgmi) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {
        "version": parsed.version or None,
        "driver": parsed.driver or None,
        "tests": [asdict(test) for test in parsed.tests],
        "health": parsed.health or None,
        "incidents": [asdict(incident) for incident in parsed.incidents],
        "failed": parsed.failed or None,
        "unread": parsed.unread,
    }
    if parsed.cut:
        found["cut"] = True
    if parsed.links:
        found["nvlinks"] = [asdict(links) for links in parsed.links]
    return found


def wrong(parsed: Dcgmi) -> tuple[str, ...]:
    """Tests that fail, then those that warn; what the watches saw; and that dcgmi could not look at all."""
    found = [f"dcgmi gave up ({parsed.failed})"] if parsed.failed else []
    for result, verb in ((FAIL, "fails"), (WARN, "warns")):
        found += [_of(test, result, verb) for test in parsed.tests if _worst(test) == result]
    for incident in sorted(parsed.incidents, key=lambda incident: incident.state != FAILURE):
        more = f": {incident.text}" if incident.text else ""
        found.append(
            f"{incident.entity or 'the group'}: DCGM sees a {incident.state.lower()} of {incident.system}{more}"
        )
    if parsed.health not in ("", HEALTHY) and not parsed.incidents:
        found.append(f"DCGM's health of the group is {parsed.health}")
    return tuple(found)


def _worst(test: Test) -> str:
    if not test.name:
        return FAIL if any(said.kind == ERROR for said in test.said) else ""
    results = {result.result for result in test.results}
    return FAIL if FAIL in results else WARN if WARN in results else ""


def _of(test: Test, result: str, verb: str) -> str:
    """``DCGM's test GPU Memory fails on GPU0: ...``, with what is said of those that it names."""
    if not test.name:
        return f"DCGM says of the part {test.part or 'of no name'}: {few([said.text for said in test.said], 2, '; ')}"
    bad = [entity for each in test.results if each.result == result for entity in each.entities]
    fine = {entity for each in test.results if each.result != result for entity in each.entities} - set(bad)
    said = [each.text for each in test.said if each.kind != "Info" and each.entity not in fine]
    where = f" on {few(bad, 8)}" if bad else ""
    return f"DCGM's test {test.name} {verb}{where}" + (f": {few(said, 2, '; ')}" if said else "")
