# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabrics of a report in plain text: a table, and a block for each that is not ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._ground.check import Check, counts, from_dict, sentence, trouble
from .._ground.plain import table

_HEAD = ("FABRIC", "VERDICT", "ASKED", "SWITCHES", "HCAS", "CABLES", "CHECKS")
# A dead spine may be a hundred findings: the report has all of them.
_MOST = 40


def lines(report: Mapping[str, Any]) -> list[str]:
    """Nothing where the run did not ask."""
    reported = report.get("fabric")
    if reported is None:
        return []
    if reported["error"]:
        return ["", f"FABRIC: not judged: {reported['error']}", *_all(reported["fabrics"])]
    if reported.get("skipped"):
        return ["", f"FABRIC: skipped: {reported['skipped']}"]
    return _all(reported["fabrics"])


def _all(fabrics: list[dict[str, Any]]) -> list[str]:
    if not fabrics:
        return []
    rows = [_HEAD, *(_row(fabric) for fabric in fabrics)]
    found = ["", *table(rows)]
    for fabric in fabrics:
        checks = [from_dict(check) for check in fabric["checks"]]
        found += _bad(fabric, trouble(checks))
        waived = [check for check in checks if check.waived]
        found += [f"  {sentence(entry)} (waived {entry.waived})" for entry in waived]
    return found


def _bad(fabric: Mapping[str, Any], bad: list[Check]) -> list[str]:
    if not bad:
        return []
    named = f"fabric {fabric['name']}" if fabric["name"] != "fabric" else "the fabric"
    found = ["", f"{named} is {fabric['verdict']}:"]
    for check in bad[:_MOST]:
        found.append(f"  {check.result.upper():7} {check.id}  {check.subject}")
        found += explained(check, check.observed)
    if len(bad) > _MOST:
        found.append(f"  and {len(bad) - _MOST} more: the report has all of them")
    return found


def explained(check: Check, seen: str) -> list[str]:
    """The lines below a finding: what was seen and expected, its cause and remedy."""
    found = [f"          seen:     {seen}"] if seen else []
    if check.expected:
        found.append(f"          expected: {check.expected} (from {check.expected_from})")
    found += [f"          cause:    {check.cause}", f"          remedy:   {check.remedy}"]
    if "waiver" in check.evidence:
        found.append(f"          waiver:   {check.evidence['waiver']}")
    return found


def _row(fabric: Mapping[str, Any]) -> tuple[str, ...]:
    nodes = fabric["nodes"]
    return (
        fabric["name"],
        fabric["verdict"],
        fabric["asked"],
        str(sum(node["type"] == "switch" for node in nodes)),
        str(sum(bool(node["host"]) for node in nodes)),
        str(len(fabric["links"])),
        counts(map(from_dict, fabric["checks"])),
    )
