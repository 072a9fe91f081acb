# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a terminal table, with a block for every host that is not ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    Check,
    from_dict,
    sentence,
    trouble,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils import _render_fabric, _summary

_HEAD = ("HOST", "VERDICT", "PORTS", "SUBNET MANAGER", "PING", "CHECKS")


def render(report: Mapping[str, Any]) -> str:
    """Plain text, no colours, 100 columns where the names allow it."""
    rows = [_HEAD, *(_row(name, host, report) for name, host in report["hosts"].items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = []
    if report["simulated"]:
        lines += [f"SIMULATED: {report['simulated']}", ""]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for name, host in report["hosts"].items():
        bad = trouble(from_dict(check) for check in host["checks"])
        if bad:
            lines += ["", f"{name} is {host['verdict']}:"]
            for together in _grouped(bad):
                lines += _block(together)
        lines += _waived(name, host)
    lines += _render_fabric.lines(report)
    lines += _untested(report)
    return "\n".join(lines)


def _waived(name: str, host: Mapping[str, Any]) -> list[str]:
    waived = [one for one in map(from_dict, host["checks"]) if one.waived]
    if not waived:
        return []
    return ["", f"{name}, waived:", *(f"  {sentence(one)} (waived {one.waived})" for one in waived)]


def _row(name: str, host: Mapping[str, Any], report: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        host["verdict"],
        _summary.ports(host),
        _summary.subnet_manager(host),
        _summary.pings(name, report["pings"]),
        _summary.counts(host),
    )


def _grouped(bad: list[Check]) -> list[list[Check]]:
    """Unknowns of one subject, cause and remedy belong together; every failure is its own."""
    groups: dict[tuple[str, ...], list[Check]] = {}
    for check in bad:
        own = (check.id,) if check.result == FAIL else ()
        key = (check.result, check.subject, check.cause, check.remedy, *own)
        groups.setdefault(key, []).append(check)
    return list(groups.values())


def _block(together: list[Check]) -> list[str]:
    first = together[0]
    word = "FAIL" if first.result == FAIL else "UNKNOWN"
    lines = [f"  {word:7} {', '.join(check.id for check in together)}  {first.subject}"]
    seen = ", ".join(dict.fromkeys(check.observed for check in together if check.observed))
    if seen:
        lines.append(f"          seen:     {seen}")
    if first.expected:
        lines.append(f"          expected: {first.expected} (from {first.expected_from})")
    lines.append(f"          cause:    {first.cause}")
    lines.append(f"          remedy:   {first.remedy}")
    if "waiver" in first.evidence:
        lines.append(f"          waiver:   {first.evidence['waiver']}")
    return lines


def _untested(report: Mapping[str, Any]) -> list[str]:
    left_out = [ping for ping in report["pings"] if ping["untested"]]
    if not left_out:
        return []
    lines = ["", f"{len(left_out)} of {len(report['pings'])} pairs were not tested:"]
    reasons: dict[tuple[str, str], list[str]] = {}
    for ping in left_out:
        pair = f"{ping['client']}->{ping['server']} {ping['rail']}"
        reasons.setdefault((ping["culprit"], ping["untested"]), []).append(pair)
    for (culprit, why), pairs in reasons.items():
        lines.append(f"  {culprit}: {why}")
        lines.append(f"          {', '.join(pairs[:6])}{' ...' if len(pairs) > 6 else ''}")
    return lines
