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
FIXED, STAYED, FAILED = "fixed", "stayed", "failed"
# How long an act is remembered, in days; nobody may count tries over more.
KEPT = 90


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
        raise RecordError(f"{path} cannot be read: {exc}; next: fix it, or move it away to begin anew") from exc
    entries = known.get("acts") if isinstance(known, dict) and known.get("schema") == SCHEMA else None
    if not isinstance(entries, list) or not all(_sound(entry) for entry in entries):
        raise RecordError(f"{path} is no record of repairs; next: fix it, or move it away to begin anew")
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


def out(entries: Iterable[Mapping[str, Any]]) -> set[str]:
    """The hosts that were disrupted when they were last repaired, and not given back then."""
    last: dict[str, tuple[str, bool]] = {}
    for entry in entries:
        at, kept = last.get(entry["host"], ("", False))
        here = bool(entry.get("drains") and entry.get("error"))
        if entry["at"] >= at:
            last[entry["host"]] = (entry["at"], here or (kept and entry["at"] == at))
    return {host for host, (_at, kept) in last.items() if kept}


def results(plan: Plan, after: Mapping[str, Any] | None, errors: Mapping[str, str]) -> list[tuple[Step, str, str]]:
    """What became of every step and why, by the diagnosis afterwards; ``errors``: what stopped a host.

    Mended is what was looked at again and is well, whatever stopped the host later: nothing is, without a diagnosis, on
    a host of which nothing could be told, or where a check that showed the cause could not be made, or fails for
    another cause now.
    """
    unseen, wrong = (set(), {}) if after is None else (_unseen(after), _wrong(after))
    found = []
    for step in plan.steps:
        stopped = errors.get(step.host, "")
        blind = [check for check in step.checks if (step.host, check) in unseen]
        ill = [(check, wrong[step.host, check]) for check in step.checks if (step.host, check) in wrong]
        if after is None or step.host not in after["looked"]:
            found.append((step, FAILED, stopped or "nobody could look at the host afterwards"))
        elif ill:
            check, cause = ill[0]
            still = "it is still there" if cause == step.cause else f"{check} fails now for another cause, {cause}"
            found.append((step, FAILED if stopped else STAYED, stopped or still))
        elif blind:
            found.append((step, STAYED, f"{', '.join(blind)} could not be looked at afterwards"))
        else:
            found.append((step, FIXED, ""))
    return found


def _wrong(after: Mapping[str, Any]) -> dict[Key, str]:
    """(host, check) of what is not well -> the cause that it belongs to."""
    return {
        (entry["host"], entry["check"]): cause["id"]
        for cause in reversed(after["causes"])
        for entry in (*cause["explains"], *cause["evidence"])
    }


def _unseen(after: Mapping[str, Any]) -> set[Key]:
    """(host, check) of what was not looked at, whether or not a cause hides it."""
    hidden = [entry for cause in after["causes"] for entry in cause["hides"]]
    return {(host, check) for entry in after["unknown"] for host in entry["hosts"] for check in entry["checks"]} | {
        (entry["host"], entry["check"]) for entry in hidden
    }


def begin(folder: Path, plan: Plan, now: datetime) -> None:
    """Remember every step as one that failed, before it is done: who is interrupted has tried it. Raises OSError."""
    _write(folder, [*read(folder), *(_entry(step, FAILED, "it was not ended", now) for step in plan.steps)], now)


def end(folder: Path, done: Sequence[tuple[Step, str, str]], errors: Mapping[str, str], now: datetime) -> None:
    """The same with what became of it, of the hosts that were begun. ``now``: as it was given to `begin`."""
    known = [entry for entry in read(folder) if entry["at"] != now.isoformat()]
    ended = [_entry(step, result, why or errors.get(step.host, ""), now) for step, result, why in done]
    _write(folder, [*known, *ended], now)


def _entry(step: Step, result: str, error: str, now: datetime) -> dict[str, Any]:
    told = {"host": step.host, "cause": step.cause, "kind": step.kind, "words": list(step.words), "drains": step.drains}
    return {"at": now.isoformat(), **told, "result": result, "error": error}


def _write(folder: Path, entries: Sequence[Mapping[str, Any]], now: datetime) -> None:
    since = now - timedelta(days=KEPT)
    body = {"schema": SCHEMA, "acts": [entry for entry in entries if datetime.fromisoformat(entry["at"]) >= since]}
    files.write_whole(folder / NAME, json.dumps(body, indent=1) + "\n")
