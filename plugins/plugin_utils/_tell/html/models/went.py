# SPDX-License-Identifier: GPL-3.0-or-later
"""How hosts and fabrics went over the last runs: which fail since when, and which change often."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .....module_utils._ground.check import NOT_READY, READY, UNKNOWN_VERDICT
from ...._run.compare import ABSENT
from .text import Names, brief, moment, names

ROWS = 20
# So many changes within the last runs are no repair, but a node that goes up and down.
OFTEN = 3
_BAD = (NOT_READY, UNKNOWN_VERDICT)


@dataclass(frozen=True)
class Row:
    """Hosts that went the same way. ``changes``: of the verdict, runs without them left aside.

    ``bad``: in how many runs they were not ready, or not to be judged, since they last were better;
    0 where they are now. ``since``: the first of these; ``before``: whether no run saw them better.
    """

    hosts: Names
    verdicts: tuple[str, ...]
    changes: int
    bad: int = 0
    since: str = ""
    before: bool = False

    @property
    def often(self) -> bool:
        """Whether they change often."""
        return self.changes >= OFTEN


@dataclass(frozen=True)
class Went:
    """``runs``: when each was, oldest first. ``rows``: hosts that were not ready in each, those that
    change often first, then those that fail. ``unread``: runs that could not be read. ``bad``: how many of ``all``
    were not ready or unknown in some run; ``warned``: how many others were degraded in one."""

    runs: list[str]
    rows: list[Row]
    unread: list[str]
    all: int
    bad: int = 0
    warned: int = 0
    more: int = 0

    @property
    def failing(self) -> list[Row]:
        """Those that are bad for more than one run, by how long."""
        bad: dict[tuple[int, str, bool], list[Row]] = {}
        for row in self.rows:
            if row.bad > 1:
                bad.setdefault((row.bad, row.since, row.before), []).append(row)
        return [_together(bad[key]) for key in sorted(bad, key=lambda key: -key[0])]

    @property
    def often(self) -> list[Row]:
        """Those that change often, the most first."""
        return sorted((row for row in self.rows if row.often), key=lambda row: -row.changes)


def read(run: Mapping[str, Any]) -> Went | None:
    """None where only one run is known, and no other could be read."""
    told = run.get("history")
    if not told or (len(told["runs"]) < 2 and not told["unread"]):
        return None
    here = {*run["hosts"], *(f"fabric {fabric['name']}" for fabric in (run.get("fabric") or {}).get("fabrics") or ())}
    every = _rows(told, here)
    unread = [brief(said, 400) for said in told["unread"]]
    left = sum(row.hosts.total for row in every[ROWS:])
    bad = sum(row.hosts.total for row in every if not set(_BAD).isdisjoint(row.verdicts))
    warned = sum(row.hosts.total for row in every) - bad
    runs = [moment(one) for one in told["runs"]]
    return Went(runs, every[:ROWS], unread, len(here & told["hosts"].keys()), bad, warned, left)


def _rows(told: Mapping[str, Any], here: Collection[str]) -> list[Row]:
    same: dict[tuple[str, ...], list[str]] = {}
    for name, verdicts in told["hosts"].items():
        if name in here and not {READY, ABSENT}.issuperset(verdicts):
            same.setdefault(tuple(verdicts), []).append(name)
    found = [_row(names(some), verdicts, told["runs"]) for verdicts, some in same.items()]
    return sorted(found, key=lambda row: (not row.often, -row.bad))


def _together(some: Sequence[Row]) -> Row:
    """Rows of which the same is told as one."""
    shown = names(host for row in some for host in row.hosts.shown).shown
    return replace(some[0], hosts=Names(shown, sum(row.hosts.total for row in some) - len(shown)))


def _row(hosts: Names, verdicts: tuple[str, ...], runs: Sequence[str]) -> Row:
    seen = [(number, verdict) for number, verdict in enumerate(verdicts) if verdict != ABSENT]
    changes = sum(one != other for one, other in pairwise(verdict for _number, verdict in seen))
    last = next((place for place, (_number, verdict) in reversed(list(enumerate(seen))) if verdict not in _BAD), -1)
    bad = [number for number, _verdict in seen[last + 1 :]]
    return Row(hosts, verdicts, changes, len(bad), moment(runs[bad[0]]) if bad else "", last < 0)
