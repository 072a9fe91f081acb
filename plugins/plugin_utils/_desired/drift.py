# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs on which host of a fleet, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._ground.plain import plain

SCHEMA = "ibready/drift/1"
_SIDES = (("before", "-"), ("after", "+"))
# Lines of one diff, and hosts that are named for one thing.
_LINES, _NAMES = 12, 8


def gathered(hostvars: Mapping[str, Any], names: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Of each host what differs, and of those that were not compared why."""
    differs: dict[str, Any] = {}
    uncompared: dict[str, str] = {}
    for name in names:
        told = hostvars[name].get("ibready_desired") if name in hostvars else None
        if isinstance(told, Mapping) and told.get("compared") and isinstance(told.get("differs"), list):
            differs[name] = told["differs"]
            continue
        node = hostvars[name].get("ibready_node") if name in hostvars else None
        said = told if isinstance(told, Mapping) and told.get("msg") else node if isinstance(node, Mapping) else {}
        uncompared[name] = f"{name} was not compared: {said.get('msg') or 'nobody asked it'}"
    return differs, uncompared


def told(differs: Mapping[str, Sequence[Mapping[str, Any]]], uncompared: Mapping[str, str]) -> str:
    """What differs, equal things of several hosts once; the hosts on which nothing does last."""
    same: dict[tuple[str, ...], list[str]] = {}
    for name, entries in differs.items():
        for entry in entries:
            same.setdefault(_lines(entry), []).append(name)
    blocks = ["\n".join([_hosts(names), *(f"  {line}" for line in lines)]) for lines, names in same.items()]
    still = [name for name, entries in differs.items() if not entries]
    blocks += list(uncompared.values())
    if still:
        blocks.append(f"{_hosts(still)}: nothing differs")
    return "\n".join(plain(line) for line in "\n\n".join(blocks).split("\n"))


def _hosts(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES])
    return shown if len(names) <= _NAMES else f"{shown} and {len(names) - _NAMES} more"


def _lines(entry: Mapping[str, Any]) -> tuple[str, ...]:
    words = {
        "differs": "differs",
        "unknown": "nobody can tell",
        "always": "only the role can tell",
        "refused": "stops the role",
    }
    state = words.get(str(entry.get("state")), "")
    head = f"{entry.get('role')}: {entry.get('task')}: {state}"
    why = str(entry.get("why") or "")
    return (f"{head} ({why})" if why else head, *(line for each in entry.get("diff") or () for line in _shown(each)))


def _shown(diff: Any) -> list[str]:
    """Lines that only one side has."""
    if not isinstance(diff, Mapping):
        return []
    sides = {side: str(diff.get(side) or "").splitlines() for side, _unused in _SIDES}
    lines = [
        f"{sign} {line}"
        for side, sign in _SIDES
        for line in sides[side]
        if line not in sides["after" if side == "before" else "before"]
    ]
    more = [f"({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
    return [f"  {diff.get('after_header') or ''}", *(f"    {line}" for line in [*lines[:_LINES], *more])]
