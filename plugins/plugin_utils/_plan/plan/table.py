# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as text: for each class what is there, what will be, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ....module_utils._ground.text import few
from ..._ground.plain import plain, table
from ..resolve.refuse import Refusal
from .lock import Class, shown

_HEAD = ("PART", "THERE IS", "THERE WILL BE")
_MANY = 6
_MOST = 12
_NAMES = {"rdma": "RDMA stack", "driver": "NVIDIA driver", "cuda": "CUDA", "nccl": "NCCL", "gds": "nvidia-fs"}


@dataclass(frozen=True)
class Row:
    """One class. Either ``planned`` or ``refused`` is there.

    ``there``: by part, the versions that hosts have now ("none" where it is not installed), with
    how many hosts have it. ``modules``: what hosts call the planned RDMA stack's kernel modules, where
    that is not the stack's own number. ``beside``: what others set beside what ibready brings.
    """

    name: str
    hosts: Sequence[str]
    there: Mapping[str, Mapping[str, int]]
    planned: Class | None = None
    refused: Refusal | None = None
    kept: bool = False
    missing: Sequence[str] = field(default_factory=tuple)
    modules: str = ""
    beside: Sequence[str] = field(default_factory=tuple)


def render(rows: Sequence[Row], changes: Sequence[str], facts: str, simulated: str) -> str:
    """Plain text, no colours. ``facts``: how old those are that the rows rest on."""
    lines = [f"SIMULATED: {simulated}", ""] if simulated else []
    for row in rows:
        lines += [*_class(row), ""]
    lines += [facts, ""]
    if changes:
        lines += ["The lock changes:", *(f"  {line}" for line in changes), ""]
    return "\n".join(map(plain, lines)).rstrip() + "\n"


def _class(row: Row) -> list[str]:
    beside = [f"  beside:  {line}" for line in row.beside[:_MOST]]
    beside += [f"  beside:  and {len(row.beside) - _MOST} more"] if len(row.beside) > _MOST else []
    if row.refused is not None:
        return [f"{row.name}: REFUSED  ({_hosts(row.hosts)})", *_refusal(row.refused), *beside]
    if row.planned is None:
        return [f"{row.name}: nothing is known of it"]
    verdict = row.planned.verdict + (", as locked" if row.kept else "")
    lines = [f"{row.name}: {verdict}  ({_hosts(row.hosts)})"]
    cells = [_HEAD]
    for part, fields in row.planned.stack.items():
        modules = f" (kernel modules {row.modules})" if part == "rdma" and row.modules else ""
        cells.append((part_name(part), _now(row.there, part), f"{shown(fields)}{modules}"))
    lines += [f"  {line}" for line in table(cells)]
    lines += [f"  because: {reason}" for reason in row.planned.because]
    lines += [f"  needs:   stack_repositories.{name}.base (no location given)" for name in row.missing]
    return [*lines, *beside]


def _refusal(refused: Refusal) -> list[str]:
    lines = [
        f"  rule:    {refused.rule}: {refused.says}",
        f"  here:    {refused.one}",
        f"  against: {refused.other}",
        f"  source:  {refused.source}",
        *(f"  also:    {reason}" for reason in refused.also),
    ]
    if refused.nearest:
        desired_settings = ", ".join(f"{name}={value}" for name, value in refused.change.items())
        parts = ", ".join(f"{part_name(part)} {shown(fields)}" for part, fields in refused.nearest.items())
        lines += [f"  nearest: {parts}", f"  next:    set {desired_settings}"]
    else:
        lines.append("  next:    no other wish is known to help; the rule says what has to change")
    return lines


def part_name(part: str) -> str:
    """What people call a part of a stack."""
    return _NAMES.get(part, part.replace("_", " "))


def refusal(refused: Refusal) -> str:
    """The same in one line, for an error message."""
    said = f"{refused}"
    if refused.change:
        desired_settings = ", ".join(f"{name}={value}" for name, value in refused.change.items())
        said += f". Next: set {desired_settings}"
    return said


def _hosts(hosts: Sequence[str]) -> str:
    return f"{len(hosts)} host{'s' if len(hosts) != 1 else ''}: {few(hosts, _MANY)}"


def _now(there: Mapping[str, Mapping[str, int]], part: str) -> str:
    found = there.get(part) or {}
    if not found:
        return "not looked at"
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{name} ({count})" for name, count in found.items())
