# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of bench.yml as text: what was measured, and what is wrong with each host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ....module_utils._ground.check import FAIL, Check, from_dict, sentence, trouble
from ....module_utils._ground.text import few
from ..._ground.plain import plain, table
from . import switches

_HEAD = ("TEST", "RAIL", "PAIRS", "WORST", "MEDIAN", "BEST", "UNIT", "WORST PAIR")
_MPI_HEAD = ("BYTES", "MEDIAN us", "MAD us", "LEAST us", "BUS GB/s")
_SHOWN = 20
_FEW = 4


def render(report: Mapping[str, Any]) -> str:
    """Plain text, no colours."""
    lines: list[str] = []
    if report["simulated"]:
        lines += [f"SIMULATED: {report['simulated']}", ""]
    pairs = [_pairs(*group) for group in _groups(report["pairs"]).items()]
    lines += table([_HEAD, *pairs]) if pairs else []
    lines += _nccl(report)
    lines += _mpi(report["mpi"] or {})
    beside, said = switches.lines(report.get("switched") or ())
    lines += ["", *table(beside), *said] if beside else []
    for kind, item in report["baseline"].items():
        if item["changes"]:
            lines += ["", f"the stack is not that of the baseline of {kind} ({item['created']}):"]
            reported = list(item["changes"].items())[:_SHOWN]
            lines += [f"  {name}: {'; '.join(changed)}" for name, changed in reported]
    for name, host in report["hosts"].items():
        bad = trouble(from_dict(check) for check in host["checks"])
        word = host["verdict"] if host["measured"] or bad else "reached, and was not measured"
        lines += ["", f"{name} is {word}" + (":" if bad else "")]
        lines += [f"  FAIL     {sentence(entry)}" for entry in bad if entry.result == FAIL]
        lines += _unknowns([entry for entry in bad if entry.result != FAIL])
    return "\n".join(map(plain, lines))


def _unknowns(bad: Sequence[Check]) -> list[str]:
    """What has one reason stands together: one tool that is missing leaves many checks unknown."""
    reasons: dict[tuple[str, str], list[Check]] = {}
    for entry in bad:
        reasons.setdefault((entry.cause, entry.remedy), []).append(entry)
    lines = []
    for (cause, remedy), checks in reasons.items():
        ids = ", ".join(dict.fromkeys(check.id for check in checks))
        subjects = list(dict.fromkeys(check.subject for check in checks))
        lines.append(f"  UNKNOWN  {ids} ({few(subjects, _FEW)}):")
        lines += [f"           {cause}", f"           next: {remedy}"]
    return lines


def _groups(pairs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for pair in pairs:
        found.setdefault((pair["test"], pair["rail"]), []).append(pair)
    return found


def _pairs(key: tuple[str, str], pairs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    reported = [pair for pair in pairs if pair["value"] is not None]
    counted = f"{len(reported)}/{len(pairs)}"
    unit = pairs[0]["unit"]
    if not reported:
        return (*key, counted, "-", "-", "-", unit, "-")
    reported.sort(key=lambda entry: entry["value"], reverse=unit == "us")
    numbers = (reported[0]["value"], median(entry["value"] for entry in reported), reported[-1]["value"])
    where = f"{reported[0]['client']} > {reported[0]['server']}"
    return (*key, counted, *(f"{number:.4g}" for number in numbers), unit, where)


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
            str(entry["bytes"]),
            *(f"{entry[name]:.1f}" for name in ("median", "mad", "least")),
            f"{entry['busbw']:.4g}",
        )
        for entry in told["measured"]
    ]
    head = f"all-reduce by ibready's own program, {told['measured'][0]['ranks']} processes, "
    return ["", f"{head}{'; '.join(told['transports'])}:", *table([_MPI_HEAD, *rows])]
