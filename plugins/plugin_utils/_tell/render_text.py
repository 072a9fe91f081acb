# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a terminal table, with a block for every host that is not ready; and what got better and worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.check import FAIL, Check, from_dict, sentence, trouble
from .._fleet.ping import coverage
from .._ground.plain import plain, table
from .._hosts import summary
from . import render_fabric
from .html import causes

_HEAD = ("HOST", "VERDICT", "PORTS", "SUBNET MANAGER", "PING", "CHECKS")
# Only in the table of a run that moved data over RDMA, before the last column.
_RDMA = "RDMA"
_SAYS = (("worse", "WORSE"), ("better", "BETTER"), ("gone", "GONE"))
# Of one host and kind; the report has all of them.
_MOST = 12


def render(report: Mapping[str, Any]) -> str:
    """Plain text, no colours, 100 columns where the names allow it."""
    pings = summary.pings_by_host(report["pings"])
    rows: list[tuple[str, ...]] = [_HEAD]
    rows += [_row(name, host, pings.get(name, [])) for name, host in report["hosts"].items()]
    if report.get("rdma"):
        reported = summary.moved_by_host(report)
        moved = (reported.get(name, summary.NOTHING) for name in report["hosts"])
        rows = [(*row[:-1], cell, row[-1]) for row, cell in zip(rows, (_RDMA, *moved), strict=True)]
    lines = []
    if report["simulated"]:
        lines += [f"SIMULATED: {report['simulated']}", ""]
    soft = summary.soft_roce(report)
    lines += [f"SOFT ROCE: {soft}", ""] if soft else []
    lines += table(rows)
    for name, host in report["hosts"].items():
        bad = trouble(from_dict(check) for check in host["checks"])
        if bad:
            lines += ["", f"{name} is {host['verdict']}:"]
            for together in _grouped(bad):
                lines += _block(together)
        lines += _waived(name, host)
    lines += render_fabric.lines(report)
    lines += _untested(report)
    lines += _sample(report)
    return "\n".join(map(plain, lines))


def _sample(report: Mapping[str, Any]) -> list[str]:
    reported = coverage.sentence(report.get("ping_coverage"))
    return ["", reported] if reported else []


def _waived(name: str, host: Mapping[str, Any]) -> list[str]:
    waived = [check for check in map(from_dict, host["checks"]) if check.waived]
    if not waived:
        return []
    return ["", f"{name}, waived:", *(f"  {sentence(entry)} (waived {entry.waived})" for entry in waived)]


def _row(name: str, host: Mapping[str, Any], pings: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return (
        name,
        host["verdict"],
        summary.ports(host),
        summary.subnet_manager(host),
        summary.pings(pings),
        summary.counts(host),
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
    return lines + render_fabric.explained(first, seen)


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


def since(compared: Mapping[str, Any]) -> str:
    """What got better and worse: ``since`` of a run object."""
    if compared["error"]:
        return plain(f"NOT COMPARED: {compared['error']}")
    head = f"SINCE {compared['created']}"
    if not compared["hosts"]:
        return plain(f"{head}: nothing got better or worse.")
    counts = (f"{_count(compared, way)} {way}" for way, _ in _SAYS)
    lines = [f"{head}: {len(compared['hosts'])} differ; checks: {', '.join(counts)}"]
    for name, host in compared["hosts"].items():
        lines += ["", f"{name}: {_verdicts(host)}"]
        for way, word in _SAYS:
            lines += [
                f"  {word:7} {entry['id']}  {entry['subject']}: {entry['before']} -> {entry['now']}"
                for entry in host[way][:_MOST]
            ]
            if len(host[way]) > _MOST:
                lines.append(f"          and {len(host[way]) - _MOST} more")
    return "\n".join(map(plain, lines))


def _count(compared: Mapping[str, Any], way: str) -> int:
    return sum(len(host[way]) for host in compared["hosts"].values())


def _verdicts(host: Mapping[str, Any]) -> str:
    if host["before"] == host["now"]:
        return f"{host['now']} as before"
    return f"{host['before']} -> {host['now']}"
