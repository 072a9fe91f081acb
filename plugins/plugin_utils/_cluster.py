# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the whole cluster: what the hosts told in, one report object out, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import fleet, ib, ping
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    DEGRADED,
    READY,
    Check,
    failed,
    passed,
    unknown,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import with_fleet
from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts, _rounds

SCHEMA = "ibready/report/1"


def report(hosts: Sequence[_hosts.Host], *, created: str, version: str) -> dict[str, Any]:
    """The report object (docs/architecture.md): verdicts, checks and facts of every host."""
    compared = {
        host.name: fleet.HostFacts(str(host.node.get("kernel", "")), host.ib)
        for host in hosts
        if host.ib is not None
    }
    usual = fleet.expectations(compared)
    agreed = fleet.judge(compared)
    taking_part = {host.name: _hosts.participant(host) for host in hosts}
    pings = _pings(hosts, taking_part)
    rails = {name: [*who.rails, *(set(who.missing) - {"*"})] for name, who in taking_part.items()}
    for host in hosts:
        if host.ping_error and host.ib is not None:
            rails[host.name] = _names(host)
    reached = ping.judge({name: sorted(names) for name, names in rails.items()}, pings)

    judged: dict[str, Any] = {}
    for host in hosts:
        checks = _access(host)
        if not host.absent:
            if host.ib is None:
                checks.append(unknown("ib.tool.ibstat", "ibstat", host.ib_error))
            else:
                checks += ib.judge(host.ib, with_fleet(host.expect, usual))
            checks += agreed.get(host.name, []) + reached.get(host.name, [])
        judged[host.name] = {
            "verdict": verdict(checks),
            "checks": [check.to_dict() for check in checks],
            "facts": {"node": dict(host.node), "ib": host.ib.to_dict() if host.ib else None},
        }
    simulated = sorted({str(host.node.get("simulated") or "") for host in hosts} - {""})
    return {
        "schema": SCHEMA,
        "created": created,
        "ibready": version,
        "simulated": ", ".join(simulated),
        "hosts": judged,
        "pings": [_ping_dict(one) for one in pings],
    }


def is_good(report_object: Mapping[str, Any]) -> bool:
    """Whether there is at least one host and every one is ready or only degraded."""
    verdicts = [host["verdict"] for host in report_object["hosts"].values()]
    return bool(verdicts) and all(one in (READY, DEGRADED) for one in verdicts)


def _access(host: _hosts.Host) -> list[Check]:
    if host.absent:
        return [unknown("host.access.reachable", "host", host.absent, remedy=host.remedy)]
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
                "inventory",
            )
        )
    return checks


def _names(host: _hosts.Host) -> list[str]:
    who = _hosts.participant(replace(host, ping_error=""))
    return [*who.rails, *who.missing]


def _pings(
    hosts: Sequence[_hosts.Host], taking_part: Mapping[str, _rounds.Participant]
) -> list[ping.Ping]:
    """Every directed pair on every rail: answered, asked in vain, or untested and why."""
    left_out = [
        ping.Ping(one.client, one.server, one.rail, untested=one.reason, culprit=one.culprit)
        for one in _rounds.untested(taking_part)
    ]
    asked = [_ping(host.name, answer) for host in hosts for answer in host.answers]
    known = {(one.client, one.server, one.rail) for one in (*left_out, *asked)}
    silent = [
        ping.Ping(client, server, rail, untested="it was not asked to ping", culprit=client)
        for client, who in taking_part.items()
        for server, far in taking_part.items()
        for rail in who.rails
        if client != server and rail in far.rails and (client, server, rail) not in known
    ]
    covered = {(one.client, one.server, one.rail) for one in asked}
    return asked + [
        one for one in (*left_out, *silent) if (one.client, one.server, one.rail) not in covered
    ]


def _ping(client: str, answer: Mapping[str, Any]) -> ping.Ping:
    if answer.get("untested"):
        return ping.Ping(
            client, answer["server"], answer["rail"], untested=answer["untested"], culprit=client
        )
    return ping.Ping(
        client,
        answer["server"],
        answer["rail"],
        sent=answer["sent"],
        received=answer["received"],
        rtt_avg=answer["rtt_avg"],
        rtt_max=answer["rtt_max"],
    )


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
