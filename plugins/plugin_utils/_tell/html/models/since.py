# SPDX-License-Identifier: GPL-3.0-or-later
"""What got better and worse since the last run, and what this run changed, cut to their room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...._ground.dicts import as_dict, as_list
from ...._run.compare import WAYS
from .text import Names, brief, cut, moment, names, number

HOSTS = 200
FINDINGS = 6
TASKS = 100
# Worse before better: that is what people look for.
ORDER = ("worse", "gone", "better")


@dataclass(frozen=True)
class Finding:
    id: str
    subject: str
    before: str
    now: str


@dataclass(frozen=True)
class Differs:
    """One host or fabric. ``ways``: by one of WAYS, its findings and how many are left out."""

    host: str
    before: str
    now: str
    ways: list[tuple[str, list[Finding], int]]

    @property
    def moved(self) -> bool:
        """Whether its verdict is another one."""
        return self.before != self.now


@dataclass(frozen=True)
class Since:
    """``error``: why nothing was compared. ``counts``: findings, by one of WAYS."""

    created: str
    error: str
    counts: Mapping[str, int]
    hosts: list[Differs]
    more: int = 0

    @property
    def count(self) -> int:
        """All that differ."""
        return len(self.hosts) + self.more


@dataclass(frozen=True)
class Task:
    """A task that changed something: how often, and on which hosts."""

    name: str
    times: int
    hosts: Names


@dataclass(frozen=True)
class Changes:
    """``hosts``: how many were changed; ``more``: tasks that are left out. ``would``: it was check
    mode, in which nothing was."""

    hosts: int
    tasks: list[Task]
    more: int = 0
    would: bool = False


def read(run: Mapping[str, Any]) -> Since | None:
    """None for the first run, of which there is nothing to compare with."""
    reported = run.get("since")
    if not isinstance(reported, Mapping):
        return None
    found = as_dict(reported.get("hosts"))
    counts = {way: sum(len(as_list(as_dict(item).get(way))) for item in found.values()) for way in WAYS}
    every = [_differs(str(name), as_dict(item)) for name, item in found.items()]
    every.sort(key=_weight)
    shown, more = cut(every, HOSTS)
    return Since(moment(str(reported.get("created") or "")), str(reported.get("error") or ""), counts, shown, more)


def _differs(name: str, told: Mapping[str, Any]) -> Differs:
    ways = []
    for way in ORDER:
        some, more = cut(as_list(told.get(way)), FINDINGS)
        if some:
            ways.append((way, [_finding(as_dict(entry)) for entry in some], more))
    return Differs(name, brief(told.get("before") or ""), brief(told.get("now") or ""), ways)


def _weight(differs: Differs) -> tuple[bool, bool]:
    return (all(way != "worse" for way, *_unused in differs.ways), not differs.moved)


def _finding(told: Mapping[str, Any]) -> Finding:
    return Finding(*(brief(told.get(key) or "", 60) for key in ("id", "subject", "before", "now")))


def changes(run: Mapping[str, Any]) -> Changes | None:
    """None where nobody listened, and so nobody knows."""
    reported = run.get("changes")
    if not isinstance(reported, Mapping):
        return None
    tasks: dict[str, dict[str, int]] = {}
    for host, mine in reported.items():
        for entry in map(as_dict, as_list(mine)):
            times = int(number(entry.get("times")) or 0)
            hosts = tasks.setdefault(str(entry.get("task") or ""), {})
            hosts[str(host)] = hosts.get(str(host), 0) + times
    every = [Task(brief(name), sum(hosts.values()), names(hosts, 8)) for name, hosts in tasks.items()]
    shown, more = cut(every, TASKS)
    would = as_dict(run.get("run")).get("check_mode") is True
    return Changes(sum(bool(as_list(mine)) for mine in reported.values()), shown, more, would)
