# SPDX-License-Identifier: GPL-3.0-or-later
"""The same job with one thing switched off, beside the job as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....module_utils._data.bench_switches import NAMES, RAIL, SWITCHES, Switch
from .reported import Reported
from .values import MPI, NCCL

# Below this nobody calls two results different (SuperBench).
_SAME = 0.05
_RAILS = 2
_HEAD = ("SWITCHED", "JOB", "GB/s", "OF AS IT IS")


def plan(hosts: Sequence[Reported], names: Sequence[str], what: Sequence[str]) -> list[dict[str, Any]]:
    """A job for each switch: ``environment`` by host, or ``untested`` with the reason; raises ValueError."""
    strange = [name for name in names if name not in NAMES]
    if strange:
        raise ValueError(f"bench_ab: {strange[0]!r} is none of {', '.join(NAMES)}; next: leave it out")
    here = [host for host in hosts if not host.absent]
    gpus = bool(here) and all(host.gpus for host in here)
    job = NCCL if gpus and NCCL in what else MPI
    return [_one(switch, job, here, what) for switch in SWITCHES if switch.name in names]


def _one(switch: Switch, job: str, hosts: Sequence[Reported], what: Sequence[str]) -> dict[str, Any]:
    wanted = switch.nccl if job == NCCL else switch.mpi
    rail, why = "", ""
    if job not in what:
        why = f"bench_what leaves {job} out"
    elif len(hosts) == 1:
        why = "one host: there is no job over several"
    elif not wanted:
        why = "only a job between GPUs has it"
    elif switch.name == "rails":
        rail, why = _rail(hosts)
    made = {"name": switch.name, "means": switch.means, "job": job, "untested": why, "environment": {}}
    if not why:
        made["environment"] = {host.name: _filled(wanted, host, rail) for host in hosts}
    return made


def _rail(hosts: Sequence[Reported]) -> tuple[str, str]:
    """A rail that every host has, by name; or why there is none that could be left alone."""
    alone = [host.name for host in hosts if len(host.member.rails) < _RAILS]
    if alone:
        return "", f"{alone[0]} has no second rail that could be left out"
    shared = set.intersection(*(set(host.member.rails) for host in hosts))
    return (min(shared), "") if shared else ("", "no rail has the same name on all hosts")


def _filled(wanted: Mapping[str, str], host: Reported, rail: str) -> dict[str, str]:
    mine = host.member.rails.get(rail)
    end = f"{mine.device}:{mine.port}" if mine is not None else ""
    return {name: value.replace(RAIL, end) for name, value in wanted.items()}


def rows(hosts: Sequence[Reported]) -> list[dict[str, Any]]:
    """What came of each: the bus bandwidth in GB/s as it is and switched, and what share of it was left."""
    planned = next((host.switches for host in hosts if host.switches), ())
    return [_row(hosts, switch) for switch in planned]


def _row(hosts: Sequence[Reported], switch: Mapping[str, Any]) -> dict[str, Any]:
    name, job = str(switch["name"]), str(switch["job"])
    told = [one for host in hosts for one in host.switched if one["name"] == name]
    base, no_base = _number(job, [{"nodes": host.nodes, "mpi": host.mpi} for host in hosts])
    value, no_value = _number(job, told)
    errors = [f"{host.name}: {one['error']}" for host in hosts for one in host.switched if one["name"] == name]
    said = next((error for error in errors if not error.endswith(": ")), "")
    why = str(switch.get("untested") or "")
    if not why and value is None:
        why = said or no_value or "no host told of it"
    if not why and base is None:
        why = f"the job as it is: {no_base or 'it told no number'}"
    share = value / base if value is not None and base and not why else None
    return {
        "switch": name,
        "means": str(switch["means"]),
        "job": job,
        "base": base,
        "value": value if not why else None,
        "share": share,
        "untested": why,
        "says": _says(name, share),
    }


def _number(job: str, told: Sequence[Mapping[str, Any]]) -> tuple[float | None, str]:
    """The best bus bandwidth of what came out right; else why there is none."""
    why = ""
    for one in told:
        of = dict(one.get("nodes" if job == NCCL else "mpi") or {})
        found = _of_nccl(of) if job == NCCL else _of_mpi(of)
        if isinstance(found, float):
            return found, ""
        why = why or found
    return None, why


def _of_nccl(told: Mapping[str, Any]) -> float | str:
    if told.get("untested") or "busbw" not in told:
        return str(told.get("untested") or told.get("msg") or "")
    return float(told["busbw"]) if not told.get("wrong") else "its sums were wrong"


def _of_mpi(told: Mapping[str, Any]) -> float | str:
    measured = told.get("measured") or ()
    if any(not one["right"] for one in measured):
        return "its sums were wrong"
    best = max((float(one["busbw"]) for one in measured), default=None)
    return best if best is not None else str(told.get("why") or told.get("msg") or "")


def _says(name: str, share: float | None) -> str:
    if share is None:
        return ""
    switch = next(switch for switch in SWITCHES if switch.name == name)
    if share > 1 + _SAME:
        return f"{switch.means} is faster by {100 * (share - 1):.0f} %: what it switches off does harm here"
    if share >= 1 - _SAME:
        return f"{switch.means} changes nothing: {switch.same}"
    return f"{switch.means} costs {100 * (1 - share):.0f} %"


def lines(found: Sequence[Mapping[str, Any]]) -> tuple[list[tuple[str, ...]], list[str]]:
    """The table's rows under its head, and a sentence each."""
    table: list[tuple[str, ...]] = [_HEAD] if found else []
    for row in found:
        shown = f"{row['value']:.4g}" if row["value"] is not None else "-"
        share = f"{100 * row['share']:.0f} % of {row['base']:.4g}" if row["share"] is not None else "-"
        table.append((row["means"], row["job"], shown, share))
    said = [str(row["says"]) or f"{row['means']}: not measured: {row['untested']}" for row in found]
    return table, said
