# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived between the hosts of a run: what they told in, checks out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._checks import rdma
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    from_dict,
    sentence,
    skipped,
    trouble,
    unknown,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.tried import Try
from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts, _summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma.tries import row, tries

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
    return rdma.judge({name: one.host for name, one in moving.items()}, tested, size), tested


def alone(
    hosts: Sequence[_hosts.Host],
    plan: Mapping[str, Any] | None,
    size: int,
    created: datetime.datetime,
) -> dict[str, Any]:
    """The same of every host, with a verdict, where nothing else is judged."""
    found, tested = judged(hosts, plan, size)
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
        checks = _waivers.apply(checks, host.waivers, host.name, created.date())
        report[host.name] = {
            "verdict": verdict(checks),
            "checks": [one.to_dict() for one in checks],
        }
    return {
        "schema": SCHEMA,
        "created": created.isoformat(timespec="seconds"),
        "hosts": report,
        "rdma": [row(one) for one in tested],
    }


def text(report: Mapping[str, Any]) -> str:
    """A table, and a block for every host of which something is wrong."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for name, one in report["hosts"].items():
        moved = _summary.moved(name, report)
        rows.append((name, one["verdict"], moved, _summary.counts(one)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for name, one in report["hosts"].items():
        bad = trouble(map(from_dict, one["checks"]))
        lines += ["", f"{name} is {one['verdict']}:"] if bad else []
        lines += [f"  {sentence(check)}" for check in bad]
    return "\n".join(map(plain, lines))
