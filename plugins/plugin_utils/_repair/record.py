# SPDX-License-Identifier: GPL-3.0-or-later
"""What repairs did and what became of it, kept beside the report, so that nothing is tried for ever."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...module_utils._ground import strict
from .._ground import files
from .plan import Key, Plan, Step

NAME = "ibready-repairs.json"
SCHEMA = "ibready/repairs/1"
MENDED, STAYED, FAILED = "mended", "stayed", "failed"
# How many acts are remembered; the oldest go first.
_MOST = 5000


class RecordError(ValueError):
    """The record cannot be read, and so nobody knows what was tried."""


def read(folder: Path) -> list[dict[str, Any]]:
    """Every act that is remembered, oldest first; raises RecordError."""
    path = folder / NAME
    try:
        known = strict.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as exc:
        raise RecordError(f"{path} cannot be read: {exc}; next: mend it, or move it away to begin anew") from exc
    entries = known.get("acts") if isinstance(known, dict) and known.get("schema") == SCHEMA else None
    if not isinstance(entries, list) or not all(_sound(entry) for entry in entries):
        raise RecordError(f"{path} is no record of repairs; next: mend it, or move it away to begin anew")
    return entries


def _sound(entry: Any) -> bool:
    if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("at", "host", "cause")):
        return False
    try:
        return datetime.fromisoformat(entry["at"]).tzinfo is not None
    except ValueError:
        return False


def tried(entries: Iterable[Mapping[str, Any]], now: datetime, days: int) -> Counter[Key]:
    """How often each cause was tried on each host in the last ``days``: once a run, whatever became of it."""
    since = now - timedelta(days=days)
    recent = {
        (entry["host"], entry["cause"], entry["at"])
        for entry in entries
        # A record from the future was written by a clock that was wrong; it counts.
        if datetime.fromisoformat(entry["at"]) >= since
    }
    return Counter((host, cause) for host, cause, _at in recent)


def results(plan: Plan, after: Mapping[str, Any] | None, errors: Mapping[str, str]) -> list[tuple[Step, str, str]]:
    """What became of every step and why, by the diagnosis afterwards; ``errors``: what stopped a host.

    Mended is what was looked at again and is well, whatever stopped the host later: nothing is, without a diagnosis, on
    a host of which nothing could be told, or where a check that showed the cause could not be made.
    """
    found = []
    for step in plan.steps:
        if after is None or step.host not in after["looked"]:
            found.append((step, FAILED, errors.get(step.host, "nobody could look at the host afterwards")))
        elif any(step.host in cause["hosts"] and cause["id"] == step.cause for cause in after["causes"]):
            found.append((step, FAILED if step.host in errors else STAYED, errors.get(step.host, "it is still there")))
        elif blind := [check for check in step.checks if (step.host, check) in _unseen(after)]:
            found.append((step, STAYED, f"{', '.join(blind)} could not be looked at afterwards"))
        else:
            found.append((step, MENDED, ""))
    return found


def _unseen(after: Mapping[str, Any]) -> set[tuple[str, str]]:
    """(host, check) of what was not looked at, whether or not a cause hides it."""
    hidden = [entry for cause in after["causes"] for entry in cause["hides"]]
    return {(host, check) for entry in after["unknown"] for host in entry["hosts"] for check in entry["checks"]} | {
        (entry["host"], entry["check"]) for entry in hidden
    }


def begin(folder: Path, plan: Plan, now: datetime) -> None:
    """Remember every step as one that failed, before it is done: who is interrupted has tried it. Raises OSError."""
    _write(folder, [*read(folder), *(_entry(step, FAILED, "it was not ended", now) for step in plan.steps)])


def end(folder: Path, done: Sequence[tuple[Step, str, str]], now: datetime) -> None:
    """The same with what became of it. ``now``: as it was given to `begin`."""
    known = [entry for entry in read(folder) if entry["at"] != now.isoformat()]
    _write(folder, [*known, *(_entry(*each, now) for each in done)])


def _entry(step: Step, result: str, error: str, now: datetime) -> dict[str, Any]:
    told = {"host": step.host, "cause": step.cause, "kind": step.kind, "words": list(step.words)}
    return {"at": now.isoformat(), **told, "result": result, "error": error}


def _write(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    body = {"schema": SCHEMA, "acts": list(entries[-_MOST:])}
    files.write_whole(folder / NAME, json.dumps(body, indent=1) + "\n")
