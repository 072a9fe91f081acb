# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the whole cluster: what the hosts told in, one report object out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    fleet,
    ib,
    ping,
    tcp,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    SKIP,
    UNKNOWN,
    Check,
    failed,
    passed,
    skipped,
    unknown,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import INVENTORY, with_fleet
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import IbFacts
from ansible_collections.ibready.cluster.plugins.plugin_utils import (
    _alike,
    _hosts,
    _nccl_fleet,
    _rounds,
    _tcp_tries,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import report as fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import (
    coverage,
    matrix,
    told,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import mesh as _mesh
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import judge as rdma_judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import tries as rdma_tries

SCHEMA = "ibready/report/1"


def report(
    hosts: Sequence[_hosts.Host],
    *,
    size: int,
    created: datetime.datetime,
    version: str,
    compare: bool = False,
    plan: Mapping[str, Any] | None = None,
    asked: fabrics.Asked | None = None,
    moves: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The report object (docs/architecture.md): verdicts, checks and facts of every host.

    ``size`` is how many hosts the inventory has; with --limit, more than took part. ``created`` is
    now, with its zone; waivers hold by its date. ``compare``: also hold the hosts against each
    other in what may differ on sound ones, as a diagnosis does. ``plan``: by which they pinged.
    ``asked``: what the fabrics said, None where nobody asked. ``moves``: by which plan they moved
    data over RDMA.
    """
    today = created.date()
    compared = {
        host.name: fleet.HostFacts(str(host.node.get("kernel", "")), host.ib, _alike.kind(host))
        for host in hosts
        if host.ib is not None
    }
    usual = fleet.expectations(compared)
    agreed = fleet.judge(compared, size)
    taking_part = {host.name: _hosts.participant(host) for host in hosts}
    pings = _mesh.pings(hosts, taking_part, plan)
    rails = _rails(taking_part, pings)
    mesh = _mesh.mesh(hosts, taking_part, plan)
    reached = ping.judge(rails, pings, size, mesh)
    alike = _alike.judge(hosts, size)
    closer = _alike.compare(hosts, rails, pings, size) if compare else {}
    listening = {host.name: host.tcp for host in hosts if host.tcp is not None}
    tries = _tcp_tries.tries(listening)
    connected = tcp.judge({name: one.host for name, one in listening.items()}, tries, size)

    moved, tested = rdma_judge.judged(hosts, moves, size)

    own = _nccl_fleet.judged(
        {host.name: host.facts.get("nccl") or {} for host in hosts},
        {host.name: host.checks for host in hosts},
    )
    told_of, on_fabric = fabrics.judged(hosts, asked, today) if asked is not None else ({}, {})
    judged: dict[str, Any] = {}
    for host in hosts:
        checks = _access(host)
        if not host.absent:
            if host.ib is None:
                checks.append(unknown("ib.tool.ibstat", "ibstat", host.ib_error))
            else:
                anew = ib.judge(host.ib, with_fleet(host.expect, usual[host.name]))
                checks += _with_evidence(anew, host.ports)
                checks += own[host.name]
                checks += _reachability(
                    host.ib,
                    taking_part[host.name],
                    reached[host.name],
                    moved.get(host.name, []),
                )
            checks += connected.get(host.name, [])
            checks += moved.get(host.name, [])
            checks += agreed.get(host.name, [])
            checks += on_fabric.get(host.name, [])
            checks += alike.get(host.name, [])
            checks += closer.get(host.name, [])
        checks = _waivers.apply(checks, host.waivers, host.name, today)
        judged[host.name] = {
            "verdict": verdict(checks),
            "checks": [check.to_dict() for check in checks],
            "facts": {
                **host.facts,
                "node": dict(host.node),
                "ib": host.ib.to_dict() if host.ib else None,
            },
        }
    simulated = sorted({str(host.node.get("simulated") or "") for host in hosts} - {""})
    return {
        "schema": SCHEMA,
        "created": created.isoformat(timespec="seconds"),
        "ibready": version,
        "simulated": ", ".join(simulated),
        "hosts": judged,
        "pings": [told.row(one) for one in pings],
        "ping_again": [told.row(one) for one in mesh.again],
        "ping_coverage": coverage.coverage(plan, rails, pings),
        "ping_matrix": matrix.matrix(rails, pings, mesh.leaves),
        "tcp": [_tcp_tries.row(one) for one in tries],
        **({"rdma": [rdma_tries.row(one) for one in tested]} if tested else {}),
        **({"fabric": told_of} if told_of else {}),
    }


def _access(host: _hosts.Host) -> list[Check]:
    if host.absent:
        return [unknown("host.access.reachable", "host", host.absent, remedy=host.remedy)]
    if host.recorded:
        return [skipped("host.access.reachable", "host", host.recorded)]
    checks = [passed("host.access.reachable", "host", "logged in as root")]
    if not host.node.get("root"):
        checks = [
            unknown(
                "host.access.reachable",
                "host",
                "the module did not run as root",
                remedy="run with become (ansible_become: true)",
            )
        ]
    if host.converge_error:
        checks.append(
            failed(
                "host.converge.complete",
                "host",
                host.converge_error,
                "every task done",
                INVENTORY,
            )
        )
    return checks


def _with_evidence(checks: Sequence[Check], own: Sequence[Check]) -> list[Check]:
    """The same checks, with what the host quoted where it found the same."""
    quoted = {(one.id, one.subject, one.observed): one.evidence for one in own if one.evidence}
    return [
        replace(one, evidence=quoted[one.id, one.subject, one.observed])
        if one.result in (FAIL, UNKNOWN) and (one.id, one.subject, one.observed) in quoted
        else one
        for one in checks
    ]


def _rails(
    taking_part: Mapping[str, _rounds.Participant], pings: Sequence[ping.Ping]
) -> dict[str, list[str]]:
    """What each host is judged on: its rails, and those that others miss on it alone."""
    rails = {name: {*who.rails, *(set(who.missing) - {"*"})} for name, who in taking_part.items()}
    for one in pings:
        if one.untested and one.rail not in taking_part[one.culprit].ignored:
            rails[one.culprit].add(one.rail)
    return {name: sorted(names) for name, names in rails.items()}


def _reachability(
    facts: IbFacts, who: _rounds.Participant, checks: list[Check], moved: list[Check]
) -> list[Check]:
    """The ping checks of one host; a host that no ping can prove is never passed over.

    ``moved``: what is told of its RoCE rails, which data proves in place of pings.
    """
    ignored = [
        skipped("fabric.ping.tested", rail, "ibready_expect.ignore names it")
        for rail in sorted(who.ignored)
    ]
    if checks:
        return checks + ignored
    if any(one.id == "fabric.rdma.verbs" and one.result != SKIP for one in moved):
        why = "its rails are RoCE: fabric.rdma.verbs tells whether data arrives"
        return [skipped("fabric.ping.tested", "host", why), *ignored]
    why = "no port of this host is known"
    if facts.cas:
        why = "no InfiniBand port took part, and no data was moved over RoCE (ibready_rdma)"
    return [unknown("fabric.ping.tested", "host", why), *ignored]
