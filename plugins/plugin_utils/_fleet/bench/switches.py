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
    why = ""
    if job not in what:
        why = f"bench_what leaves {job} out"
    elif len(hosts) == 1:
        why = "one host: there is no job over several"
    elif not wanted:
        why = "only a job between GPUs has it"
    elif switch.name == "rails":
        alone = [host.name for host in hosts if len(host.member.rails) < 2]
        why = f"{alone[0]} has no second rail that could be left out" if alone else ""
    made = {"name": switch.name, "means": switch.means, "job": job, "untested": why, "environment": {}}
    if not why:
        made["environment"] = {host.name: _filled(wanted, host) for host in hosts}
    return made


def _filled(wanted: Mapping[str, str], host: Reported) -> dict[str, str]:
    first = next(iter(sorted(host.member.rails.items())), None)
    device = first[1].device if first else ""
    return {name: value.replace(RAIL, device) for name, value in wanted.items()}


def rows(hosts: Sequence[Reported]) -> list[dict[str, Any]]:
    """What came of each: the bus bandwidth in GB/s as it is and switched, and what share of it was left."""
    found = []
    for host in hosts:
        for told in host.switched:
            base, value = _base(host, str(told["job"])), _value(told)
            why = str(told.get("untested") or "")
            if not why and value is None:
                why = "the job with it switched told no number"
            if not why and not base:
                why = "the job as it is told no number"
            share = value / base if value is not None and base and not why else None
            found.append(
                {
                    "switch": str(told["name"]),
                    "means": str(told["means"]),
                    "job": str(told["job"]),
                    "base": base,
                    "value": value if not why else None,
                    "share": share,
                    "untested": why,
                    "says": _says(str(told["name"]), share),
                }
            )
    return found


def _base(host: Reported, job: str) -> float | None:
    if job == NCCL:
        return host.nodes.get("busbw") if host.nodes else None
    return _best(host.mpi)


def _value(told: Mapping[str, Any]) -> float | None:
    if told["job"] == NCCL:
        return (told.get("nodes") or {}).get("busbw")
    return _best(told.get("mpi"))


def _best(smoke: Mapping[str, Any] | None) -> float | None:
    return max((entry["busbw"] for entry in (smoke or {}).get("measured") or ()), default=None)


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
