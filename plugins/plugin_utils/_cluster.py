# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the whole cluster: what the hosts told in, one report object out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _waivers
from ansible_collections.ibready.cluster.plugins.module_utils._checks import fleet, ib, ping, tcp
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    DEGRADED,
    READY,
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

SCHEMA = "ibready/report/1"


def report(
    hosts: Sequence[_hosts.Host],
    *,
    size: int,
    created: datetime.datetime,
    version: str,
    compare: bool = False,
    asked: fabrics.Asked | None = None,
) -> dict[str, Any]:
    """The report object (docs/architecture.md): verdicts, checks and facts of every host.

    ``size`` is how many hosts the inventory has; with --limit, more than took part. ``created`` is
    now, with its zone; waivers hold by its date. ``compare``: also hold the hosts against each
    other in all that equal hosts have alike, as a diagnosis does. ``asked``: what the fabrics said,
    None where nobody asked.
    """
    today = created.date()
    compared = {
        host.name: fleet.HostFacts(str(host.node.get("kernel", "")), host.ib)
        for host in hosts
        if host.ib is not None
    }
    usual = fleet.expectations(compared)
    agreed = fleet.judge(compared, size)
    taking_part = {host.name: _hosts.participant(host) for host in hosts}
    pings = _pings(hosts, taking_part)
    rails = _rails(taking_part, pings)
    reached = ping.judge(rails, pings, size)
    alike = _alike.judge(hosts, rails, pings, size) if compare else {}
    told = {host.name: host.tcp for host in hosts if host.tcp is not None}
    tries = _tcp_tries.tries(told)
    connected = tcp.judge({name: one.host for name, one in told.items()}, tries, size)

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
                checks += ib.judge(host.ib, with_fleet(host.expect, usual))
                checks += own[host.name]
                checks += _reachability(host.ib, taking_part[host.name], reached[host.name])
            checks += connected.get(host.name, [])
            checks += agreed.get(host.name, [])
            checks += on_fabric.get(host.name, [])
            checks += alike.get(host.name, [])
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
        "pings": [_ping_dict(one) for one in pings],
        "tcp": [_tcp_tries.row(one) for one in tries],
        **({"fabric": told_of} if told_of else {}),
    }


def is_good(report_object: Mapping[str, Any]) -> bool:
    """Whether there is at least one host, and all hosts and fabrics are ready or only degraded."""
    verdicts = [host["verdict"] for host in report_object["hosts"].values()]
    hosts_are = bool(verdicts) and all(one in (READY, DEGRADED) for one in verdicts)
    return hosts_are and fabrics.is_good(report_object)


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


def _rails(
    taking_part: Mapping[str, _rounds.Participant], pings: Sequence[ping.Ping]
) -> dict[str, list[str]]:
    """What each host is judged on: its rails, and those that others miss on it alone."""
    rails = {name: {*who.rails, *(set(who.missing) - {"*"})} for name, who in taking_part.items()}
    for one in pings:
        if one.untested and one.rail not in taking_part[one.culprit].ignored:
            rails[one.culprit].add(one.rail)
    return {name: sorted(names) for name, names in rails.items()}


def _reachability(facts: IbFacts, who: _rounds.Participant, checks: list[Check]) -> list[Check]:
    """The ping checks of one host; a host that no ping can prove is never passed over."""
    told = [
        skipped("fabric.ping.tested", rail, "ibready_expect.ignore names it")
        for rail in sorted(who.ignored)
    ]
    if checks:
        return checks + told
    why = "no port of this host is known"
    if facts.cas:
        why = "no InfiniBand port took part, and reachability over RoCE is not judged yet"
    return [unknown("fabric.ping.tested", "host", why), *told]


def _pings(
    hosts: Sequence[_hosts.Host], taking_part: Mapping[str, _rounds.Participant]
) -> list[ping.Ping]:
    """Every directed pair on every rail: answered, asked in vain, or untested and why."""
    asked = [_ping(host.name, answer) for host in hosts for answer in host.answers]
    answered = {(one.client, one.server, one.rail) for one in asked}
    return asked + _rounds.untested(taking_part, answered)


def _ping(client: str, answer: Mapping[str, Any]) -> ping.Ping:
    server, rail = str(answer.get("server")), str(answer.get("rail"))
    why = str(answer.get("untested") or "")
    counts = _counts(answer)
    if not why and counts is None:
        why = f"the module ibping returned {answer.get('received')!r} of {answer.get('sent')!r}"
    if why or counts is None:
        return ping.Ping(client, server, rail, untested=why, culprit=client)
    return ping.Ping(
        client,
        server,
        rail,
        sent=counts[0],
        received=counts[1],
        rtt_avg=answer.get("rtt_avg"),
        rtt_max=answer.get("rtt_max"),
    )


def _counts(answer: Mapping[str, Any]) -> tuple[int, int] | None:
    """Sent and received, where they can be true."""
    sent, received = answer.get("sent"), answer.get("received")
    if isinstance(sent, int) and isinstance(received, int) and 0 <= received <= sent and sent > 0:
        return sent, received
    return None


def _ping_dict(one: ping.Ping) -> dict[str, Any]:
    return {
        "client": one.client,
        "server": one.server,
        "rail": one.rail,
        "sent": one.sent,
        "received": one.received,
        "rtt_avg_ms": one.rtt_avg,
        "rtt_max_ms": one.rtt_max,
        "untested": one.untested,
        "culprit": one.culprit,
    }
