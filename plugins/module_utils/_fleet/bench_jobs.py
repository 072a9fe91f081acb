# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what collectives reached: nccl-tests on one host and on many, our all-reduce over MPI."""

from __future__ import annotations

from typing import Any, Mapping, Sequence, Tuple

from .._data.bench import NODE_GBPS, NODE_GPUS
from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, outcome, passed, skipped, unknown

_NODE, _NODES, _DATA = "nccl.bench.node", "nccl.bench.nodes", "nccl.bench.data"
_MPI = "fabric.bench.mpi"
_AGAIN = "fix what kept it from running, then run playbooks/bench.yml again"
_NOT_ALL = "{seen:g} GPUs took part, and not {wanted:g}"


# GB/s that has to be reached, and who says so.
Limit = Tuple[float, str]


def published(gpus: Sequence[str]) -> Limit | None:
    """What a host with these GPUs is known to reach."""
    models = set(gpus)
    known = NODE_GBPS.get(next(iter(models))) if len(models) == 1 else None
    if known is None or len(gpus) != NODE_GPUS:
        return None
    return known.value, f"capability of {known.of}"


def node(told: Mapping[str, Any], gpus: Sequence[str], limit: Limit | None, model: str = "") -> list[Check]:
    """One host's all_reduce_perf. ``gpus``: their models. ``model``: what is expected of this topology, in a
    sentence."""
    subject = "all_reduce_perf on this host"
    why = _untold(told, len(gpus))
    if why:
        return [_unknown(entry, subject, why) for entry in (_NODE, _DATA)]
    if len(gpus) == 1:
        return [skipped(_NODE, subject, "it has one GPU: no bus to measure"), _data(subject, told)]
    return [_busbw(_NODE, subject, told, limit, model), _data(subject, told)]


def nodes(told: Mapping[str, Any], ranks: int, limit: Limit | None, model: str = "") -> list[Check]:
    """The job on many hosts, as a check of its first one. ``ranks``: GPUs that there had to be."""
    subject = f"all_reduce_perf on {told.get('hosts') or 'several'} hosts"
    why = _untold(told, ranks)
    if why:
        return [_unknown(entry, subject, why) for entry in (_NODES, _DATA)]
    return [_busbw(_NODES, subject, told, limit, model), _data(subject, told)]


def mpi(told: Mapping[str, Any]) -> Check:
    """Our all-reduce under mpirun, as a check of its first host; what module mpi_smoke returned."""
    subject = "all-reduce under mpirun"
    result, measured = told.get("result"), told.get("measured") or []
    why = str(told.get("why") or told.get("msg") or "it did not run")
    # A job in which no host spoke to another did not come about, and proves nothing.
    spoke = bool(told.get("transports"))
    if (result == "fail" and spoke) or any(not entry["right"] for entry in measured):
        wrong = [f"{entry['bytes']} bytes" for entry in measured if not entry["right"]]
        seen = f"a wrong sum of {', '.join(wrong)}" if wrong else why
        return failed(_MPI, subject, seen, "right sums, over RDMA where there are rails", CAPABILITY)
    if result != "pass" or not measured:
        said = why if result != "pass" else "the job told no times"
        return _unknown(_MPI, subject, said)
    best = max(measured, key=lambda entry: entry["busbw"])
    seen = f"{best['busbw']:.4g} GB/s of {best['bytes']} bytes; {why}"
    return passed(_MPI, subject, seen, "right sums, over RDMA where there are rails", CAPABILITY)


def _unknown(name: str, subject: str, why: str) -> Check:
    """What the reason itself says to do next is the remedy."""
    cause, _mark, following = why.partition("; next: ")
    return unknown(name, subject, cause, remedy=following or _AGAIN)


def _untold(told: Mapping[str, Any], wanted: int) -> str:
    if told.get("untested") or "busbw" not in told:
        return str(told.get("untested") or told.get("msg") or "it did not run")
    seen = told.get("ranks") or 0
    return "" if seen == wanted else _NOT_ALL.format(seen=seen, wanted=wanted)


def _busbw(name: str, subject: str, told: Mapping[str, Any], limit: Limit | None, model: str) -> Check:
    seen = f"{told['busbw']:.4g} GB/s of bus bandwidth{f'; {model}' if model else ''}"
    if limit is None:
        key = "nccl_node_gbps" if name == _NODE else "nccl_nodes_gbps"
        what = "these GPUs have" if name == _NODE else "these hosts and rails have"
        why = f"nobody published what {what} to reach"
        return unknown(name, subject, why, observed=seen, remedy=f"set {key} in bench_floors")
    return outcome(not (told["busbw"] < limit[0]), name, subject, seen, f"at least {limit[0]:g} GB/s", limit[1])


def _data(subject: str, told: Mapping[str, Any]) -> Check:
    wrong = told.get("wrong")
    if wrong is None:
        return unknown(_DATA, subject, "the program did not check the sums", remedy=_AGAIN)
    if wrong:
        return failed(_DATA, subject, f"{wrong:g} wrong values", "none", CAPABILITY)
    return passed(_DATA, subject, "every sum is right", "none wrong", CAPABILITY)
