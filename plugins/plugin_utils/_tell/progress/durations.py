# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the sections of the last runs took: kept beside the report, and what is left by them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....module_utils._ground import strict
from ..._ground import files

NAME = "ibready-durations.json"
SCHEMA = "ibready/durations/1"
# Runs of different kinds: other playbooks, tags or hosts.
KEEP = 20
_DAYS = 30 * 86400.0

Section = tuple[str, ...]


@dataclass
class Sections:
    """What a run has gone through: each section with its seconds, in order, the last one open.

    A section is the tasks of one play, batch and role that follow each other; its last part counts
    how often they were met.
    """

    done: list[tuple[Section, float]] = field(default_factory=list)
    now: Section = ()
    since: float = 0.0
    _what: tuple[str, ...] = ()
    _met: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def enter(self, what: tuple[str, ...], at: float) -> None:
        """The next task is of this section; nothing where it is of the open one."""
        if what == self._what:
            return
        self.end(at)
        self._met[what] += 1
        self._what, self.now, self.since = what, (*what, str(self._met[what])), at

    def end(self, at: float) -> None:
        """Close the open one."""
        if self.now:
            self.done.append((self.now, max(at - self.since, 0.0)))
        self._what, self.now = (), ()


@dataclass(frozen=True)
class Left:
    """Seconds that are left by the last run; ``least``: this section already took longer."""

    seconds: float
    least: bool


def left(last: Mapping[Section, float], sections: Sections, at: float) -> Left | None:
    """None where the last run tells nothing: it had no such section, or nothing is left of it."""
    if not sections.now or sections.now not in last:
        return None
    names = list(last)
    rest = sum(last[name] for name in names[names.index(sections.now) + 1 :])
    here = last[sections.now] - (at - sections.since)
    if here < 0 and rest <= 0:
        return None
    return Left(max(here, 0.0) + rest, least=here < 0)


def read(path: Path, run: Mapping[str, Any]) -> dict[Section, float]:
    """The sections of the last run of this kind, in order; empty where none is known."""
    for entry in _runs(path):
        if entry["run"] == run:
            return {tuple(name): float(seconds) for name, seconds in entry["sections"]}
    return {}


def keep(path: Path, run: Mapping[str, Any], done: Sequence[tuple[Section, float]]) -> None:
    """Put this run in the place of the last one of its kind; raises OSError."""
    mine = {"run": run, "sections": [[list(name), round(seconds, 1)] for name, seconds in done]}
    others = [entry for entry in _runs(path) if entry["run"] != run]
    text = json.dumps({"schema": SCHEMA, "runs": [mine, *others][:KEEP]}, indent=None)
    files.write_whole(path, text + "\n")


def _runs(path: Path) -> list[dict[str, Any]]:
    """What the file holds; nothing of a file that is not ours: it is written anew."""
    try:
        raw = strict.loads(path.read_text())
        if raw["schema"] != SCHEMA:
            return []
        return [run for run in raw["runs"] if _is_run(run)]
    except (OSError, KeyError, TypeError, ValueError):
        return []


def _is_run(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and isinstance(item.get("run"), dict)
        and isinstance(item.get("sections"), list)
        and all(_is_section(section) for section in item["sections"])
    )


def _is_section(item: Any) -> bool:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], list):
        return False
    names_ok = all(isinstance(name, str) for name in item[0])
    return names_ok and isinstance(item[1], int | float) and 0 <= item[1] < _DAYS
