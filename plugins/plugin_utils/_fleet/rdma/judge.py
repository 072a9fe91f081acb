# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived between the hosts of a run: what they told in, checks out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....module_utils._between.rdma.tried import Try
from ....module_utils._expect import waivers
from ....module_utils._fleet import rdma
from ....module_utils._ground.check import Check, from_dict, sentence, skipped, trouble, unknown, verdict
from ..._ground.plain import plain, table
from ..._hosts import hosts as _hosts, summary
from .tries import row, tries

# What judges the incasts of hosts: checks by host, and a row for each.
Incasts = Callable[[Sequence[_hosts.Host]], tuple[dict[str, list[Check]], list[dict[str, Any]]]]
SCHEMA = "ibready/rdma/1"
_ID = "fabric.rdma.verbs"
_NO_RAIL = "no RoCE rail (ibready_rdma: all takes InfiniBand as well)"
_HEAD = ("HOST", "VERDICT", "RDMA", "CHECKS")


def judged(
    hosts: Sequence[_hosts.Host], plan: Mapping[str, Any] | None, size: int
) -> tuple[dict[str, list[Check]], list[Try]]:
    """Checks per host with a rail, and every test. ``size``: how many hosts there are."""
    moving = {host.name: host.rdma for host in hosts if host.rdma is not None}
    tested = tries(moving, plan)
    return rdma.judge({name: entry.host for name, entry in moving.items()}, tested, size), tested


def alone(
    hosts: Sequence[_hosts.Host],
    plan: Mapping[str, Any] | None,
    size: int,
    created: datetime.datetime,
    loaded: Incasts | None = None,
) -> dict[str, Any]:
    """The same of every host, with a verdict, where nothing else is judged; with ``loaded`` of incasts as well."""
    found, tested = judged(hosts, plan, size)
    more, incasts = loaded(hosts) if loaded is not None else ({}, [])
    found = {name: [*found.get(name, ()), *more.get(name, ())] for name in (*found, *more)}
    report = {}
    for host in hosts:
        checks = found.get(host.name, [])
        if host.absent:
            why, remedy = host.absent, host.remedy
            checks = [unknown("host.access.reachable", "host", why, remedy=remedy)]
        elif not checks and host.ib is None:
            checks = [unknown(_ID, "host", host.ib_error)]
        elif not checks:
            checks = [skipped(_ID, "host", _NO_RAIL)]
        checks = waivers.apply(checks, host.waivers, host.name, created.date())
        report[host.name] = {
            "verdict": verdict(checks),
            "checks": [check.to_dict() for check in checks],
        }
    return {
        "schema": SCHEMA,
        "created": created.isoformat(timespec="seconds"),
        "hosts": report,
        "rdma": [row(attempt) for attempt in tested],
        "incasts": incasts,
    }


def text(report: Mapping[str, Any]) -> str:
    """A table, and a block for every host of which something is wrong."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for name, host in report["hosts"].items():
        moved = summary.moved(name, report)
        rows.append((name, host["verdict"], moved, summary.counts(host)))
    lines = table(rows)
    for name, host in report["hosts"].items():
        bad = trouble(map(from_dict, host["checks"]))
        lines += ["", f"{name} is {host['verdict']}:"] if bad else []
        lines += [f"  {sentence(check)}" for check in bad]
    return "\n".join(map(plain, lines))
