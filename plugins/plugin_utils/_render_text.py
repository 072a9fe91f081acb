# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a terminal table, with a block for every host that is not ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    Check,
    from_dict,
    sentence,
    trouble,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils import _render_fabric, _summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._html import causes
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import coverage
from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain

_HEAD = ("HOST", "VERDICT", "PORTS", "SUBNET MANAGER", "PING", "CHECKS")
# Only in the table of a run that moved data over RDMA, before the last column.
_RDMA = "RDMA"


def render(report: Mapping[str, Any]) -> str:
    """Plain text, no colours, 100 columns where the names allow it."""
    pings = _summary.pings_by_host(report["pings"])
    rows: list[tuple[str, ...]] = [_HEAD]
    rows += [_row(name, host, pings.get(name, [])) for name, host in report["hosts"].items()]
    if report.get("rdma"):
        told = _summary.moved_by_host(report)
        moved = (told.get(name, _summary.NOTHING) for name in report["hosts"])
        rows = [(*row[:-1], cell, row[-1]) for row, cell in zip(rows, (_RDMA, *moved), strict=True)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    if report["simulated"]:
        lines += [f"SIMULATED: {report['simulated']}", ""]
    soft = _summary.soft_roce(report)
    lines += [f"SOFT ROCE: {soft}", ""] if soft else []
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
    lines += _sample(report)
    return "\n".join(map(plain, lines))


def _sample(report: Mapping[str, Any]) -> list[str]:
    told = coverage.sentence(report.get("ping_coverage"))
    return ["", told] if told else []


def _waived(name: str, host: Mapping[str, Any]) -> list[str]:
    waived = [one for one in map(from_dict, host["checks"]) if one.waived]
    if not waived:
        return []
    return ["", f"{name}, waived:", *(f"  {sentence(one)} (waived {one.waived})" for one in waived)]


def _row(name: str, host: Mapping[str, Any], pings: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return (
        name,
        host["verdict"],
        _summary.ports(host),
        _summary.subnet_manager(host),
        _summary.pings(pings),
        _summary.counts(host),
    )


def _grouped(bad: list[Check]) -> list[list[Check]]:
    """What has one cause, and one subject."""
    groups: dict[tuple[str, ...], list[Check]] = {}
    for check in bad:
        groups.setdefault((check.subject, *causes.together(check)), []).append(check)
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
