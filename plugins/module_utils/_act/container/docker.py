# SPDX-License-Identifier: GPL-3.0-or-later
"""Merge what containers need into daemon.json: only keys of ours are set, all else stays."""

from __future__ import annotations

import json
import os
from typing import Any, Tuple

from ..._data import container_engines as data
from ..._parse.version_text import numbers
from . import jsonedit, model
from .jsonedit import ABSENT, JsonError, parse
from .model import Change, Desired, Plan, bad_byte

Path = Tuple[str, ...]
_NEW = "{}\n"


def wanted(wish: Desired, version: str) -> tuple[dict[Path, Any], dict[str, str]]:
    """The keys to set, and what this version cannot have."""
    keys: dict[Path, Any] = {}
    left = {}
    for name, value in (("memlock", wish.memlock), ("nofile", wish.nofile)):
        if value is not None:
            keys["default-ulimits", name] = {"Name": name, "Hard": value, "Soft": value}
    if wish.shm_size and wish.shm_bytes():
        keys["default-shm-size",] = wish.shm_size
    if wish.cdi and numbers(version) >= numbers(data.DOCKER_CDI):
        keys["features", "cdi"] = True
    elif wish.cdi:
        left["cdi"] = f"docker {version} has no CDI, which came with {data.DOCKER_CDI}"
    if wish.nvidia:
        keys["runtimes", "nvidia", "path"] = data.NVIDIA_RUNTIME
    return keys, left


def plan(path: str, before: str | None, wish: Desired, version: str, record: dict[str, Any]) -> Plan:
    """daemon.json as it is to be; JsonError where the file is not one that can be changed.

    ``record``: what the last run remembered.
    """
    keys, left = wanted(wish, version)
    text = _NEW if before is None else before
    bad = bad_byte(text)
    if bad is not None:
        raise JsonError(text, bad, "a byte that is no UTF-8")
    if parse(text).kind != "object":
        raise JsonError(text, parse(text).start, f"a {parse(text).kind}, not an object")
    made = Plan(path, before, before, left=left)
    text = _take_back(text, keys, record, made)
    kept: list[dict[str, Any]] = []
    earlier = {tuple(entry["path"]): entry for entry in record.get("set", [])}
    for key, value in keys.items():
        now = jsonedit.get(text, key)
        known = earlier.get(key)
        if _fits(key, now, value):
            if known is not None:
                kept.append(known)
            continue
        ours = known is not None and _same(now, known["after"])
        if now is not ABSENT and not ours and not wish.replace:
            made.left[".".join(key)] = model.kept(path, json.dumps(now))
            continue
        text = jsonedit.put(text, key, value)
        change = Change(".".join(key), None if now is ABSENT else now, value)
        made.changes.append(change)
        if now is not ABSENT and not ours:
            made.overridden.append(change)
        first = known if ours and known is not None else _remembered(key, now)
        kept.append({**first, "after": value})
    made.record = {"set": kept, "made": record.get("made", before is None)} if kept else {}
    made.after = _ended(text, before, record, bool(kept))
    return made


def _take_back(text: str, keys: dict[Path, Any], record: dict[str, Any], made: Plan) -> str:
    """Undo what an earlier run set and nobody wants any more, unless somebody changed it since."""
    for entry in record.get("set", []):
        path = tuple(entry["path"])
        now = jsonedit.get(text, path)
        if path in keys or now is ABSENT or not _same(now, entry["after"]):
            continue
        had = "before" in entry
        text = jsonedit.put(text, path, entry["before"]) if had else _dropped(text, path)
        made.changes.append(Change(".".join(path), now, entry.get("before")))
    return text


def _dropped(text: str, path: Path) -> str:
    """Without the key, and without the objects around it that would be empty."""
    text = jsonedit.drop(text, path)
    while len(path) > 1:
        path = path[:-1]
        if jsonedit.get(text, path) != {}:
            break
        text = jsonedit.drop(text, path)
    return text


def _ended(text: str, before: str | None, record: dict[str, Any], ours: bool) -> str | None:
    """None for a file that we made and that holds nothing any more."""
    if not ours and not json.loads(text) and (before is None or record.get("made")):
        return None
    return text


def _remembered(path: Path, now: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"path": list(path)}
    if now is not ABSENT:
        found["before"] = now
    return found


def _fits(path: Path, now: Any, value: Any) -> bool:
    if path == ("runtimes", "nvidia", "path") and isinstance(now, str):
        return os.path.basename(now) == str(value)
    return now is not ABSENT and _same(now, value)


def _same(item: Any, other: Any) -> bool:
    """Equal as JSON; for Python 1, 1.0 and True are."""
    return json.dumps(item, sort_keys=True) == json.dumps(other, sort_keys=True)
