# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a run under names that stay the same, so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....module_utils._fleet import bench
from ....module_utils._fleet.bench import Measure
from ....module_utils._fleet.bench_baseline import Value
from .reported import Reported

PERFTEST, NCCL, MPI = "perftest", "nccl", "mpi"
WHAT = (PERFTEST, NCCL, MPI)
FLOORS = ("bandwidth_gbps", "latency_us", "nccl_node_gbps", "nccl_nodes_gbps")
_FABRIC, _NCCL = "fabric.bench.regression", "nccl.bench.regression"
NODE, NODES = "all_reduce_perf on this host", "all_reduce_perf on several hosts"
JOB = "all-reduce under mpirun"


def of(measures: Iterable[Measure], hosts: Sequence[Reported]) -> dict[str, list[Value]]:
    """All numbers of a run, by what they are of."""
    return {
        PERFTEST: _pairs([measure for measure in measures if not measure.untested]),
        NCCL: [value for host in hosts for value in _nccl(host)],
        MPI: [value for host in hosts for value in _mpi(host)],
    }


def _pairs(measured: Sequence[Measure]) -> list[Value]:
    """Each pair was measured once: its spread is that of its equals."""
    groups: dict[tuple[str, float | None], list[float]] = {}
    for measure in measured:
        groups.setdefault((measure.test, measure.rate), []).append(measure.value)
    spread = {key: bench.usual_of(values).mad for key, values in groups.items()}
    return [
        Value(
            name=pair_name(measure),
            value=measure.value,
            unit=measure.unit,
            spread=spread[measure.test, measure.rate],
            check=_FABRIC,
            host=measure.client,
            subject=f"{measure.rail} {measure.test}",
        )
        for measure in measured
    ]


def pair_name(measure: Measure) -> str:
    """What a pair's measurement is called."""
    return f"{measure.test} {measure.rail} {measure.client} {measure.server}"


def node_name(host: str) -> str:
    """What a host's own all-reduce is called."""
    return f"nccl {host}"


def nodes_name(told: Mapping[str, Any]) -> str:
    """What the all-reduce of many hosts is called."""
    return f"nccl {told.get('hosts')} hosts {told.get('ranks')} GPUs"


def _nccl(host: Reported) -> list[Value]:
    found = []
    for reported, name, subject in (
        (host.nccl, node_name(host.name), NODE),
        (host.nodes, nodes_name(host.nodes or {}), NODES),
    ):
        if reported and not reported.get("untested") and "busbw" in reported:
            busbw = float(reported["busbw"])
            # One GPU alone has none, and there is nothing to compare with.
            if busbw > 0:
                found.append(Value(name, busbw, "GB/s", 0.0, _NCCL, host.name, subject))
    return found


def _mpi(host: Reported) -> list[Value]:
    measured = (host.mpi or {}).get("measured") or []
    return [
        Value(
            name=f"mpi {entry['ranks']} processes {entry['bytes']} bytes",
            value=float(entry["median"]),
            unit="us",
            spread=float(entry["mad"]),
            check=_FABRIC,
            host=host.name,
            subject=JOB,
        )
        for entry in measured
        if entry["right"] and entry["median"] > 0
    ]
