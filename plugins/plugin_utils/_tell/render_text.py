# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a terminal table, with a block for every host that is not ready; and what got better and worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._ground.check import sentence, trouble
from ...module_utils._verify import fold
from .._fleet.ping import coverage
from .._ground.plain import plain, table
from .._hosts import summary
from .._hosts.nameless import nameless, own
from .._slurm import hostlist
from . import render_fabric

_HEAD = ("HOST", "VERDICT", "PORTS", "SUBNET MANAGER", "PING", "CHECKS")
# Only in the table of a run that moved data over RDMA, before the last column.
_RDMA = "RDMA"
_SAYS = (("worse", "WORSE"), ("better", "BETTER"), ("gone", "GONE"))
# Of one host and kind; the report has all of them.
_MOST = 12
# Where a host's blocks begin; no line of a check is one of them.
_IS, _WAIVED = "is", "waived"


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
    lines += table(_folded(rows))
    lines += _told(report)
    lines += render_fabric.lines(report)
    lines += _untested(report)
    lines += _sample(report)
    return "\n".join(map(plain, lines))


def _folded(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Hosts whose rows are equal in one, where the first of them was."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, *cells in rows:
        alike.setdefault(tuple(cells), []).append(name)
    return [(hostlist.brief(names), *cells) for cells, names in alike.items()]


def _told(report: Mapping[str, Any]) -> list[str]:
    """What is not well, and what is waived, of every host; once for those that say the same but for their names."""
    every = {name: said for name, host in report["hosts"].items() if (said := _of_host(host))}
    times = Counter(line for said in every.values() for line in set(said))
    alike: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name, said in every.items():
        words = own(name, (check.get("evidence") or {} for check in report["hosts"][name]["checks"]))
        # A line that names several hosts is the same in the words of each.
        key = (line if times[line] > 1 else nameless(words, line) for line in said)
        alike.setdefault(tuple(key), {})[name] = said
    lines = []
    for hosts in alike.values():
        first, (verdict, *mine) = next(iter(hosts.items()))
        names = hostlist.brief(list(hosts))
        # A command or a cause that holds the name of a host is to be read, and typed, as that host's.
        of = "" if all(said == [verdict, *mine] for said in hosts.values()) else f", in the words of {first}"
        head = {_IS: f"{names} {'is' if len(hosts) == 1 else 'are'} {verdict}{of}:", _WAIVED: f"{names}, waived{of}:"}
        for line in mine:
            lines += ["", head[line]] if line in head else [line]
    return lines


def _of_host(host: Mapping[str, Any]) -> list[str]:
    """The verdict, and what follows it; [] where nothing does."""
    lines: list[str] = []
    not_well = summary.not_well(host)
    bad = trouble(not_well)
    if bad:
        lines.append(_IS)
        for line in fold.folded(bad):
            lines += _block(line)
    waived = [check for check in not_well if check.waived]
    if waived:
        lines += [_WAIVED, *(f"  {sentence(entry)} (waived {entry.waived})" for entry in waived)]
    return [str(host["verdict"]), *lines] if lines else []


def _sample(report: Mapping[str, Any]) -> list[str]:
    reported = coverage.sentence(report.get("ping_coverage"))
    return ["", reported] if reported else []


def _row(name: str, host: Mapping[str, Any], pings: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return (
        name,
        host["verdict"],
        summary.ports(host),
        summary.subnet_manager(host),
        summary.pings(pings),
        summary.counts(host),
    )


def _block(line: fold.Line) -> list[str]:
    check = line.check
    found = [f"  {check.result.upper():7} {check.id}  {line.subject}", *render_fabric.explained(check, check.observed)]
    return [*found, f"          affects:  {line.hidden}"] if line.hidden else found


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
    counts = (f"{_count(compared, way)} {way}" for way, _unused in _SAYS)
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
