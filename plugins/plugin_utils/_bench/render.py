# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of bench.yml as text: what was measured, and what is wrong with each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    FAIL,
    Check,
    from_dict,
    sentence,
    trouble,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plain import plain

_HEAD = ("TEST", "RAIL", "PAIRS", "WORST", "MEDIAN", "BEST", "UNIT", "WORST PAIR")
_MPI_HEAD = ("BYTES", "MEDIAN us", "MAD us", "LEAST us", "BUS GB/s")
_SHOWN = 20
_FEW = 4


def render(report: Mapping[str, Any]) -> str:
    """Plain text, no colours."""
    lines: list[str] = []
    if report["simulated"]:
        lines += [f"SIMULATED: {report['simulated']}", ""]
    pairs = [_pairs(*one) for one in _groups(report["pairs"]).items()]
    lines += _table(_HEAD, pairs) if pairs else []
    lines += _nccl(report)
    lines += _mpi(report["mpi"] or {})
    for kind, one in report["baseline"].items():
        if one["changes"]:
            lines += ["", f"the stack is not that of the baseline of {kind} ({one['created']}):"]
            told = list(one["changes"].items())[:_SHOWN]
            lines += [f"  {name}: {'; '.join(changed)}" for name, changed in told]
    for name, host in report["hosts"].items():
        bad = trouble(from_dict(one) for one in host["checks"])
        word = host["verdict"] if host["measured"] or bad else "reached, and was not measured"
        lines += ["", f"{name} is {word}" + (":" if bad else "")]
        lines += [f"  FAIL     {sentence(one)}" for one in bad if one.result == FAIL]
        lines += _unknowns([one for one in bad if one.result != FAIL])
    return "\n".join(map(plain, lines))


def _unknowns(bad: Sequence[Check]) -> list[str]:
    """What has one reason stands together: one tool that is missing leaves many checks unknown."""
    reasons: dict[tuple[str, str], list[Check]] = {}
    for one in bad:
        reasons.setdefault((one.cause, one.remedy), []).append(one)
    lines = []
    for (cause, remedy), checks in reasons.items():
        ids = ", ".join(dict.fromkeys(one.id for one in checks))
        subjects = list(dict.fromkeys(one.subject for one in checks))
        more = f" and {len(subjects) - _FEW} more" if len(subjects) > _FEW else ""
        lines.append(f"  UNKNOWN  {ids} ({', '.join(subjects[:_FEW])}{more}):")
        lines += [f"           {cause}", f"           next: {remedy}"]
    return lines


def _groups(pairs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in pairs:
        found.setdefault((one["test"], one["rail"]), []).append(one)
    return found


def _pairs(key: tuple[str, str], pairs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    told = [one for one in pairs if one["value"] is not None]
    counted = f"{len(told)}/{len(pairs)}"
    unit = pairs[0]["unit"]
    if not told:
        return (*key, counted, "-", "-", "-", unit, "-")
    told.sort(key=lambda one: one["value"], reverse=unit == "us")
    numbers = (told[0]["value"], median(one["value"] for one in told), told[-1]["value"])
    where = f"{told[0]['client']} > {told[0]['server']}"
    return (*key, counted, *(f"{one:.4g}" for one in numbers), unit, where)


def _nccl(report: Mapping[str, Any]) -> list[str]:
    """Every host's own all-reduce, the slowest first, and that of several."""
    alone = [
        (host["nccl"]["busbw"], name)
        for name, host in report["hosts"].items()
        if host["nccl"] and "busbw" in host["nccl"]
    ]
    lines = []
    if alone:
        lines += ["", f"all_reduce_perf on one host, GB/s of bus bandwidth ({len(alone)} hosts):"]
        lines += [f"  {value:8.4g}  {name}" for value, name in sorted(alone)[:_SHOWN]]
    many = report["nccl_nodes"] or {}
    if "busbw" in many:
        where = f"{many['hosts']} hosts with {many['ranks']} GPUs"
        lines += ["", f"all_reduce_perf on {where}: {many['busbw']:.4g} GB/s of bus bandwidth"]
    return lines


def _mpi(told: Mapping[str, Any]) -> list[str]:
    if not told.get("measured"):
        return []
    rows = [
        (
            str(one["bytes"]),
            *(f"{one[name]:.1f}" for name in ("median", "mad", "least")),
            f"{one['busbw']:.4g}",
        )
        for one in told["measured"]
    ]
    head = f"all-reduce by ibready's own program, {told['measured'][0]['ranks']} processes, "
    return ["", f"{head}{'; '.join(told['transports'])}:", *_table(_MPI_HEAD, rows)]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
