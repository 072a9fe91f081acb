# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the whole cluster: what the hosts told in, one report object out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils._areas.ib import area as ib
from ...module_utils._expect import waivers
from ...module_utils._expect.expectations import INVENTORY, with_fleet
from ...module_utils._fleet import fleet, ping, tcp
from ...module_utils._ground.check import FAIL, SKIP, UNKNOWN, Check, failed, passed, skipped, unknown, verdict
from ...module_utils._rails.ib_ports import IbFacts
from .._answers import apart, ping as told, shown
from .._fabric import report as fabrics
from .._fabric.sightings import Sightings
from .._ground import silence
from .._hosts import consistency as _alike, contact, hosts as _hosts, rounds
from .._switch import judge as _switch, texts as _texts
from . import nccl_plan, tcp_plan
from .ping import coverage, matrix, mesh as _mesh
from .rdma import judge as rdma_judge, tries as rdma_tries

SCHEMA = "ibready/report/2"


def report(
    hosts: Sequence[_hosts.Host],
    *,
    size: int,
    created: datetime.datetime,
    version: str,
    compare: bool = False,
    plan: Mapping[str, Any] | None = None,
    asked: fabrics.Query | None = None,
    moves: Mapping[str, Any] | None = None,
    switches: _texts.Switches | None = None,
) -> dict[str, Any]:
    """The report object (docs/architecture.md): verdicts, checks and facts of every host.

    ``size`` is how many hosts the inventory has; with --limit, more than took part. ``created`` is
    now, with its zone; waivers hold by its date. ``compare``: also hold the hosts against each
    other in what may differ on sound ones, as a diagnosis does. ``plan``: by which they pinged.
    ``asked``: what the fabrics said, None where nobody asked. ``moves``: by which plan they moved
    data over RDMA. ``switches``: what the site handed in of them, None where it did not. It is made
    whatever the hosts told: one with which it cannot be made is unknown.
    """

    def made(some: Sequence[_hosts.Host]) -> dict[str, Any]:
        return _report(some, size, created, version, compare, plan, asked, moves, switches)

    return apart.together(hosts, made, _hosts.lost)


def _report(
    hosts: Sequence[_hosts.Host],
    size: int,
    created: datetime.datetime,
    version: str,
    compare: bool,
    plan: Mapping[str, Any] | None,
    asked: fabrics.Query | None,
    moves: Mapping[str, Any] | None,
    switches: _texts.Switches | None,
) -> dict[str, Any]:
    today = created.date()
    compared = {
        host.name: fleet.HostFacts(str(host.node.get("kernel", "")), host.ib, _alike.kind(host))
        for host in hosts
        if host.ib is not None
    }
    usual = fleet.expectations(compared)
    looks, inventory = (asked.looks, asked.inventory) if asked is not None else ((), ())
    agreed = fleet.judge(compared, size, Sightings(looks, _alike.owners(hosts, inventory)))
    taking_part = {host.name: _hosts.participant(host) for host in hosts}
    pings = _mesh.pings(hosts, taking_part, plan)
    rails = _rails(taking_part, pings)
    mesh = _mesh.mesh(hosts, taking_part, plan)
    reached = ping.judge(rails, pings, size, mesh)
    alike = _alike.judge(hosts, size, inventory, agreed)
    closer = _alike.compare(hosts, rails, pings, size) if compare else {}
    listening = {host.name: host.tcp for host in hosts if host.tcp is not None}
    tries = tcp_plan.tries(listening)
    connected = tcp.judge({name: entry.host for name, entry in listening.items()}, tries, size)

    moved, tested = rdma_judge.judged(hosts, moves, size)
    hung = _switch.judge(hosts, switches)

    own = nccl_plan.judged(
        {host.name: host.facts.get("nccl") or {} for host in hosts},
        {host.name: host.checks for host in hosts},
    )
    told_of, on_fabric = fabrics.judged(hosts, asked, today, pings) if asked is not None else ({}, {})
    judged: dict[str, Any] = {}
    once = _Once()
    for host in hosts:
        checks = _access(host)
        if not host.absent:
            if host.ib is None:
                checks.append(unknown("ib.tool.ibstat", "ibstat", host.ib_error))
            else:
                anew = ib.judge(host.ib, with_fleet(host.expect, usual[host.name]))
                checks += _with_evidence(anew, host.ports)
                checks += own[host.name]
                checks += _reachability(host.ib, taking_part[host.name], reached[host.name], moved.get(host.name, []))
            checks += connected.get(host.name, [])
            checks += moved.get(host.name, [])
            checks += hung.get(host.name, [])
            checks += agreed.get(host.name, [])
            checks += on_fabric.get(host.name, [])
            checks += alike.get(host.name, [])
            checks += closer.get(host.name, [])
        checks = waivers.apply(checks, host.waivers, host.name, today)
        judged[host.name] = {
            "verdict": verdict(checks),
            "checks": [once(check) for check in checks],
            "facts": {**shown.in_report(host.facts), "node": dict(host.node), "ib": _ib(host)},
        }
    simulated = sorted({str(host.node.get("simulated") or "") for host in hosts} - {""})
    return {
        "schema": SCHEMA,
        "created": created.isoformat(timespec="seconds"),
        "ibready": version,
        "simulated": ", ".join(simulated),
        "hosts": judged,
        "pings": [told.row(ping) for ping in pings],
        "ping_again": [told.row(entry) for entry in mesh.again],
        "ping_coverage": coverage.coverage(plan, rails, pings),
        "ping_matrix": matrix.matrix(rails, pings, mesh.leaves),
        "tcp": [tcp_plan.row(attempt) for attempt in tries],
        **({"rdma": [rdma_tries.row(attempt) for attempt in tested]} if tested else {}),
        **({"fabric": told_of} if told_of else {}),
    }


class _Once:
    """Checks as JSON; of equal ones there is one, since a fleet has hundreds of them a host."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[str, Any]] = {}

    def __call__(self, check: Check) -> dict[str, Any]:
        if check.evidence:
            return check.to_dict()
        key = (
            *(check.id, check.subject, check.result, check.severity, check.observed),
            *(check.expected, check.expected_from, check.cause, check.remedy, check.waived),
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = check.to_dict()
        return found


def _ib(host: _hosts.Host) -> Any:
    if host.ib is None:
        return None
    return host.facts["ib"] if "ib" in host.facts else shown.of_area("ib", host.ib.to_dict())


def _access(host: _hosts.Host) -> list[Check]:
    if host.absent:
        gone = unknown("host.access.reachable", "host", host.absent, remedy=host.remedy)
        return [replace(gone, evidence={contact.ADDRESS: host.address}) if host.address else gone]
    if host.recorded:
        return [skipped("host.access.reachable", "host", host.recorded)]
    checks = [passed("host.access.reachable", "host", "logged in as root")]
    if host.silent:
        checks = [unknown("host.access.reachable", "host", host.silent, remedy=silence.NEXT)]
    elif not host.node.get("root"):
        checks = [
            unknown(
                "host.access.reachable",
                "host",
                "the module did not run as root",
                remedy="run with become (ansible_become: true)",
            )
        ]
    if host.converge_error:
        checks.append(failed("host.converge.complete", "host", host.converge_error, "every task done", INVENTORY))
    return checks


def _with_evidence(checks: Sequence[Check], own: Sequence[Check]) -> list[Check]:
    """The same checks, with what the host quoted where it found the same."""
    quoted = {(entry.id, entry.subject, entry.observed): entry.evidence for entry in own if entry.evidence}
    return [
        replace(check, evidence=quoted[check.id, check.subject, check.observed])
        if check.result in (FAIL, UNKNOWN) and (check.id, check.subject, check.observed) in quoted
        else check
        for check in checks
    ]


def _rails(taking_part: Mapping[str, rounds.Participant], pings: Sequence[ping.Ping]) -> dict[str, list[str]]:
    """What each host is judged on: its rails, and those that others miss on it alone."""
    rails = {name: {*who.rails, *(set(who.missing) - {"*"})} for name, who in taking_part.items()}
    for entry in pings:
        if entry.untested and entry.rail not in taking_part[entry.culprit].ignored:
            rails[entry.culprit].add(entry.rail)
    return {name: sorted(names) for name, names in rails.items()}


def _reachability(facts: IbFacts, who: rounds.Participant, checks: list[Check], moved: list[Check]) -> list[Check]:
    """The ping checks of one host; a host that no ping can prove is never passed over.

    ``moved``: what is told of its RoCE rails, which data proves in place of pings.
    """
    ignored = [skipped("fabric.ping.tested", rail, "ibready_expect.ignore names it") for rail in sorted(who.ignored)]
    if checks:
        return checks + ignored
    if any(check.id == "fabric.rdma.verbs" and check.result != SKIP for check in moved):
        why = "its rails are RoCE: fabric.rdma.verbs tells whether data arrives"
        return [skipped("fabric.ping.tested", "host", why), *ignored]
    why = "no port of this host is known"
    if facts.cas:
        why = "no InfiniBand port took part, and no data was moved over RoCE (ibready_rdma)"
    return [unknown("fabric.ping.tested", "host", why), *ignored]
