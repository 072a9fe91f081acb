# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan by class, and the waivers of the site, as far as there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...._ground.dicts import as_dict, as_list
from ...._plan.plan import lock, table
from ...._run.shape import WAIVER_STATES
from .text import Names, brief, cut, names

CLASSES = 50
PARTS = 20
REASONS = 8
WAIVERS = 200
# What is not as somebody meant it first.
_STATES = ("expired", "unused", "used")


@dataclass(frozen=True)
class Class:
    """``stack``: part and version; ``because``: why this one."""

    name: str
    verdict: str
    digest: str
    hosts: Names
    stack: list[tuple[str, str]]
    because: list[str]


@dataclass(frozen=True)
class Plan:
    classes: list[Class]
    more: int = 0


@dataclass(frozen=True)
class Waiver:
    """``state``: one of WAIVER_STATES."""

    check: str
    host: str
    subject: str
    until: str
    reason: str
    state: str


@dataclass(frozen=True)
class Waivers:
    """``counts``: how many are in each state."""

    counts: Mapping[str, int]
    rows: list[Waiver]
    more: int = 0


def read(run: Mapping[str, Any]) -> Plan | None:
    """None where the run planned nothing."""
    reported = run.get("plan")
    if not isinstance(reported, Mapping):
        return None
    every = [_class(str(name), as_dict(entry)) for name, entry in reported.items()]
    every.sort(key=lambda entry: -entry.hosts.total)
    return Plan(*cut(every, CLASSES))


def _class(name: str, told: Mapping[str, Any]) -> Class:
    stack = [
        (brief(table.part_name(str(part)), 40), brief(_shown(fields), 80))
        for part, fields in list(as_dict(told.get("stack")).items())[:PARTS]
    ]
    return Class(
        brief(name),
        brief(told.get("verdict") or "", 20),
        brief(told.get("digest") or "", 12),
        names(map(str, as_list(told.get("hosts")))),
        stack,
        [brief(entry, 300) for entry in as_list(told.get("because"))[:REASONS]],
    )


def _shown(fields: Any) -> str:
    """As the plan's own table has it; whatever has another shape as it is."""
    try:
        return lock.shown(fields)
    except (AttributeError, KeyError, TypeError):
        return str(fields)


def waivers(run: Mapping[str, Any]) -> Waivers | None:
    """None where the site has none."""
    every = [_waiver(as_dict(entry)) for entry in as_list(run.get("waivers"))]
    if not every:
        return None
    every.sort(key=lambda entry: _STATES.index(entry.state))
    return Waivers(Counter(waiver.state for waiver in every), *cut(every, WAIVERS))


def _waiver(told: Mapping[str, Any]) -> Waiver:
    state = str(told.get("state"))
    texts = {key: brief(told.get(key) or "") for key in ("check", "host", "subject", "until", "reason")}
    return Waiver(**texts, state=state if state in WAIVER_STATES else "unused")
