# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabrics of a report in plain text: a table, and a block for each that is not ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    counts,
    from_dict,
    sentence,
    trouble,
)

_HEAD = ("FABRIC", "VERDICT", "ASKED", "SWITCHES", "HCAS", "CABLES", "CHECKS")
# A dead spine may be a hundred findings: the report has all of them.
_MOST = 40


def lines(report: Mapping[str, Any]) -> list[str]:
    """Nothing where the run did not ask."""
    told = report.get("fabric")
    if told is None:
        return []
    if told["error"]:
        return ["", f"FABRIC: not judged: {told['error']}", *_all(told["fabrics"])]
    if told.get("skipped"):
        return ["", f"FABRIC: skipped: {told['skipped']}"]
    return _all(told["fabrics"])


def _all(fabrics: list[dict[str, Any]]) -> list[str]:
    if not fabrics:
        return []
    rows = [_HEAD, *(_row(one) for one in fabrics)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    found = [""]
    found += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for fabric in fabrics:
        checks = [from_dict(one) for one in fabric["checks"]]
        found += _bad(fabric, trouble(checks))
        waived = [one for one in checks if one.waived]
        found += [f"  {sentence(one)} (waived {one.waived})" for one in waived]
    return found


def _bad(fabric: Mapping[str, Any], bad: list[Check]) -> list[str]:
    if not bad:
        return []
    named = f"fabric {fabric['name']}" if fabric["name"] != "fabric" else "the fabric"
    found = ["", f"{named} is {fabric['verdict']}:"]
    for check in bad[:_MOST]:
        found.append(f"  {check.result.upper():7} {check.id}  {check.subject}")
        if check.observed:
            found.append(f"          seen:     {check.observed}")
        if check.expected:
            found.append(f"          expected: {check.expected} (from {check.expected_from})")
        found.append(f"          cause:    {check.cause}")
        found.append(f"          remedy:   {check.remedy}")
        if "waiver" in check.evidence:
            found.append(f"          waiver:   {check.evidence['waiver']}")
    if len(bad) > _MOST:
        found.append(f"  and {len(bad) - _MOST} more: the report has all of them")
    return found


def _row(fabric: Mapping[str, Any]) -> tuple[str, ...]:
    nodes = fabric["nodes"]
    return (
        fabric["name"],
        fabric["verdict"],
        fabric["asked"],
        str(sum(one["type"] == "switch" for one in nodes)),
        str(sum(bool(one["host"]) for one in nodes)),
        str(len(fabric["links"])),
        counts(map(from_dict, fabric["checks"])),
    )
