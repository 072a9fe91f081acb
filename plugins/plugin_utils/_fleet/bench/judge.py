# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a run of bench.yml: what the hosts told in, one object out, no I/O."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._data.bench import BANDWIDTH, TESTS, WRITE_BW_GPU
from ....module_utils._expect.expectations import INVENTORY
from ....module_utils._fleet import bench, bench_baseline, bench_jobs
from ....module_utils._fleet.bench import AGAIN, Measure, Usual
from ....module_utils._ground.check import SKIP, Check, passed, skipped, unknown, verdict
from ....module_utils._ground.text import few
from ....module_utils._slow import carries
from . import baseline, switches, values
from .reported import Reported
from .values import MPI, NCCL, PERFTEST

SCHEMA = "ibready/bench/1"
_ACCESS = "host.access.reachable"
_SHOWN = 4
_PAIR = 2


@dataclass(frozen=True)
class Desired:
    """``what`` and ``floors`` (the site's own): as in options. ``size``: the inventory's hosts."""

    what: Sequence[str]
    tests: Sequence[str]
    floors: Mapping[str, float]
    size: int


def measures(hosts: Sequence[Reported]) -> list[Measure]:
    """Every answer of every host."""
    rates = {host.name: host.rates for host in hosts}
    found = []
    for host in hosts:
        for answer in host.answers:
            server, rail, test = answer["server"], answer["rail"], answer["test"]
            why = answer.get("untested") or ""
            value = answer.get("gbps") if test in BANDWIDTH else answer.get("usec")
            if not why and not (value is not None and value > 0):
                why = f"the module perftest returned {value!r}"
            both = (rates[host.name].get(rail), rates.get(server, {}).get(rail))
            rate = min((side for side in both if side is not None), default=None)
            if why:
                at = server if answer.get("at") == "server" else host.name
                found.append(Measure(host.name, server, rail, test, 0.0, rate, untested=why, culprit=at))
            else:
                found.append(Measure(host.name, server, rail, test, float(value or 0), rate))
    return found


def report(
    hosts: Sequence[Reported],
    wish: Desired,
    before: Mapping[str, baseline.Baseline],
    *,
    created: datetime.datetime,
    version: str,
) -> tuple[dict[str, Any], dict[str, baseline.Baseline]]:
    """The object of docs/bench.md, and the baselines that this run would make, by what they are of.

    A baseline of a simulation says nothing of real hosts, and the other way round.
    """
    measured = measures(hosts)
    now = values.of(measured, hosts)
    simulated = ", ".join(sorted({host.simulated for host in hosts} - {""}))
    stamp = created.isoformat(timespec="seconds")
    old = {kind: entry for kind, entry in before.items() if kind in wish.what and entry.simulated == simulated}
    checks = {host.name: _access(host) for host in hosts}
    if PERFTEST in wish.what:
        _add(checks, _fabric(hosts, wish, measured))
    if NCCL in wish.what:
        _add(checks, _nccl(hosts, wish, old.get(NCCL)))
    if MPI in wish.what:
        _add(checks, _mpi(hosts, wish))
    for kind in wish.what:
        then = old.get(kind)
        asked = _asked(then, measured) if then else {}
        _add(checks, bench_baseline.judge(now[kind], asked, then.source if then else ""))
    judged = {
        host.name: {
            "verdict": verdict(checks[host.name]),
            "measured": any(check.id != _ACCESS and check.result != SKIP for check in checks[host.name]),
            "checks": [check.to_dict() for check in checks[host.name]],
            "stack": host.digest if not host.absent else "",
            "nccl": host.nccl,
        }
        for host in hosts
    }
    return {
        "schema": SCHEMA,
        "created": stamp,
        "ibready": version,
        "simulated": simulated,
        "what": list(wish.what),
        "hosts": judged,
        "stacks": {host.digest: dict(host.stack) for host in hosts if not host.absent},
        "pairs": [_row(measure) for measure in measured],
        "nccl_nodes": next((_without_log(host.nodes) for host in hosts if host.nodes), None),
        "mpi": next((_without_log(host.mpi) for host in hosts if host.mpi), None),
        "switched": switches.rows(hosts),
        "baseline": {
            kind: {"created": entry.created, "changes": baseline.changes(entry, hosts)} for kind, entry in old.items()
        },
    }, {kind: baseline.make(now[kind], hosts, stamp, simulated) for kind in wish.what if now[kind]}


def _add(checks: dict[str, list[Check]], more: Mapping[str, Sequence[Check]]) -> None:
    for name, found in more.items():
        if name in checks:
            checks[name] += found


def _access(host: Reported) -> list[Check]:
    if host.absent:
        return [unknown(_ACCESS, "host", host.absent, remedy=host.remedy)]
    return [passed(_ACCESS, "host", "logged in as root")]


def _fabric(hosts: Sequence[Reported], wish: Desired, measured: Sequence[Measure]) -> dict[str, list[Check]]:
    """What perftest told; a host without any rail to judge is never passed over."""
    here = [host for host in hosts if not host.absent]
    lonely = sum(bool(host.gpus) for host in here) < _PAIR
    skips = {
        (host.name, WRITE_BW_GPU): "no other host has GPUs" if host.gpus else "it has no GPU"
        for host in here
        if host.gpus is not None and (lonely or not host.gpus)
    }
    wanted = bench.Wanted(
        rails={host.name: sorted(host.rates) for host in here},
        tests=wish.tests,
        skips=skips,
        bandwidth=wish.floors.get("bandwidth_gbps"),
        latency=wish.floors.get("latency_us"),
    )
    idle = [
        Measure(host.name, "", rail, test, untested=why, culprit=host.name)
        for host in here
        for rail in host.rates
        for test in wish.tests
        if (why := host.down.get(rail) or host.error)
    ]
    checks = bench.judge(wanted, [*measured, *idle], wish.size)
    for host in here:
        if not host.rates:
            checks[host.name] = [unknown("fabric.bench.bandwidth", "host", host.why, remedy=AGAIN)]
    return checks


def _nccl(hosts: Sequence[Reported], wish: Desired, old: baseline.Baseline | None) -> dict[str, list[Check]]:
    checks: dict[str, list[Check]] = {}
    for host in hosts:
        if host.absent:
            continue
        if host.gpus is None:
            checks[host.name] = [unknown("nccl.bench.node", values.NODE, host.gpus_why)]
        elif not host.gpus:
            checks[host.name] = [skipped("nccl.bench.node", values.NODE, "it has no GPU")]
        else:
            limit = _limit(wish, "nccl_node_gbps", old, values.node_name(host.name))
            limit = limit or bench_jobs.published(host.gpus)
            reported = host.nccl or {"untested": host.error or "it did not run"}
            checks[host.name] = bench_jobs.node(reported, host.gpus, limit, _model(reported, [host]))
    _add(checks, _nccl_nodes(hosts, wish, old))
    return checks


def _nccl_nodes(hosts: Sequence[Reported], wish: Desired, old: baseline.Baseline | None) -> dict[str, list[Check]]:
    """The job on several hosts, told by its first one."""
    head = _head(hosts)
    subject = values.NODES
    if head is None or wish.size == 1:
        return {}
    job = [host for host in hosts if host.name in head.job_hosts] or [head]
    ranks = sum(len(host.gpus or ()) for host in job)
    if all(host.gpus is not None and not host.gpus for host in job):
        return {head.name: [skipped("nccl.bench.nodes", subject, "its hosts have no GPU")]}
    reported = head.nodes or {"untested": _errors(hosts, "nccl_error") or "it did not run"}
    limit = _limit(wish, "nccl_nodes_gbps", old, values.nodes_name(reported))
    return {head.name: bench_jobs.nodes(reported, ranks, limit, _model(reported, job))}


def _model(told: Mapping[str, Any], job: Sequence[Reported]) -> str:
    """What the model of latency and bandwidth expects of these hosts, beside what was measured; "" where it cannot."""
    models = {model for host in job for model in host.gpus or ()}
    counts = {len(host.gpus or ()) for host in job}
    rates = [rate for host in job for rate in host.rates.values()]
    rails = {len(host.rates) for host in job}
    if "busbw" not in told or len(models) != 1 or len(counts) != 1:
        return ""
    if len(job) > 1 and (len(rails) != 1 or not rates or None in rates):
        return ""
    slowest = min((rate for rate in rates if rate is not None), default=0.0)
    topology = carries.of_gpu(models.pop(), len(job), counts.pop(), max(rails), slowest)
    return carries.told(float(told["busbw"]), topology) if topology is not None else ""


def _mpi(hosts: Sequence[Reported], wish: Desired) -> dict[str, list[Check]]:
    head = _head(hosts)
    if head is None:
        return {}
    if wish.size == 1:
        return {head.name: [skipped("fabric.bench.mpi", values.JOB, "one host")]}
    reported = head.mpi or {"why": _errors(hosts, "job_error") or "it did not run"}
    return {head.name: [bench_jobs.mpi(reported)]}


def _head(hosts: Sequence[Reported]) -> Reported | None:
    """The host that tells of the jobs on several: their first, else the first that was reached."""
    here = [host for host in hosts if not host.absent]
    names = next((host.job_hosts for host in here if host.job_hosts), ())
    return next((host for host in here if host.name in names[:1]), here[0] if here else None)


def _errors(hosts: Sequence[Reported], kind: str) -> str:
    """What the hosts said of the job's end, each reason once with the first of its hosts."""
    said: dict[str, list[str]] = {}
    for host in hosts:
        if why := getattr(host, kind):
            said.setdefault(why, []).append(host.name)
    reported = [f"{few(names, _SHOWN)}: {why}" for why, names in said.items()]
    return "; ".join(reported[:_SHOWN])


def _limit(wish: Desired, key: str, old: baseline.Baseline | None, name: str) -> bench_jobs.Limit | None:
    """The site's own floor; without one what the baseline has, less its tolerance."""
    if key in wish.floors:
        return wish.floors[key], INVENTORY
    before = old.values.get(name) if old else None
    if before is None or old is None or key == "nccl_node_gbps":
        return None
    return Usual(before.value, before.spread, 1).limit(more_is_better=True), old.source


def _asked(old: baseline.Baseline, measured: Sequence[Measure]) -> dict[str, bench_baseline.Value]:
    """What of a baseline this run was to measure, too: a pair that it left out is no loss."""
    tried = {values.pair_name(measure) for measure in measured}
    return {name: value for name, value in old.values.items() if name in tried or name.partition(" ")[0] not in TESTS}


def _row(measure: Measure) -> dict[str, Any]:
    return {
        "client": measure.client,
        "server": measure.server,
        "rail": measure.rail,
        "test": measure.test,
        "value": None if measure.untested else measure.value,
        "unit": measure.unit,
        "rate_gbps": measure.rate,
        "untested": measure.untested,
        "culprit": measure.culprit,
    }


def _without_log(told: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (told or {}).items() if name != "log"}
