# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a run under names that stay the same, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import _robust
from ansible_collections.ibready.cluster.plugins.module_utils._checks.bench import Measure
from ansible_collections.ibready.cluster.plugins.module_utils._checks.bench_baseline import Value
from ansible_collections.ibready.cluster.plugins.plugin_utils._bench.told import Told

PERFTEST, NCCL, MPI = "perftest", "nccl", "mpi"
_FABRIC, _NCCL = "fabric.bench.regression", "nccl.bench.regression"
NODE, NODES = "all_reduce_perf on this host", "all_reduce_perf on several hosts"
JOB = "all-reduce under mpirun"


def of(measures: Iterable[Measure], hosts: Sequence[Told]) -> dict[str, list[Value]]:
    """All numbers of a run, by what they are of."""
    return {
        PERFTEST: _pairs([one for one in measures if not one.untested]),
        NCCL: [one for host in hosts for one in _nccl(host)],
        MPI: [one for host in hosts for one in _mpi(host)],
    }


def _pairs(measured: Sequence[Measure]) -> list[Value]:
    """Each pair was measured once: its spread is that of its equals."""
    groups: dict[tuple[str, float | None], list[float]] = {}
    for one in measured:
        groups.setdefault((one.test, one.rate), []).append(one.value)
    spread = {key: _robust.usual(values).mad for key, values in groups.items()}
    return [
        Value(
            name=pair_name(one),
            value=one.value,
            unit=one.unit,
            spread=spread[one.test, one.rate],
            check=_FABRIC,
            host=one.client,
            subject=f"{one.rail} {one.test}",
        )
        for one in measured
    ]


def pair_name(one: Measure) -> str:
    """What a pair's measurement is called."""
    return f"{one.test} {one.rail} {one.client} {one.server}"


def node_name(host: str) -> str:
    """What a host's own all-reduce is called."""
    return f"nccl {host}"


def nodes_name(told: Mapping[str, Any]) -> str:
    """What the all-reduce of many hosts is called."""
    return f"nccl {told.get('hosts')} hosts {told.get('ranks')} GPUs"


def _nccl(host: Told) -> list[Value]:
    found = []
    for told, name, subject in (
        (host.nccl, node_name(host.name), NODE),
        (host.nodes, nodes_name(host.nodes or {}), NODES),
    ):
        if told and not told.get("untested") and "busbw" in told:
            busbw = float(told["busbw"])
            # One GPU alone has none, and there is nothing to compare with.
            if busbw > 0:
                found.append(Value(name, busbw, "GB/s", 0.0, _NCCL, host.name, subject))
    return found


def _mpi(host: Told) -> list[Value]:
    measured = (host.mpi or {}).get("measured") or []
    return [
        Value(
            name=f"mpi {one['ranks']} processes {one['bytes']} bytes",
            value=float(one["median"]),
            unit="us",
            spread=float(one["mad"]),
            check=_FABRIC,
            host=host.name,
            subject=JOB,
        )
        for one in measured
        if one["right"] and one["median"] > 0
    ]
