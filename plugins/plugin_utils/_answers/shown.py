# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a host's facts a run keeps, once they were read by their types: what its report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Kept = Mapping[str, Any]
_BIT_ERRORS: Kept = {"value": {"raw_ber": None}}
# By area and name; None for all of it. Areas that are not named are kept whole.
_KEPT: Mapping[str, Kept] = {
    "ib": {"cas": None, "devices": None, "sm": None, "details": {"*": {"counters": None, "optics": _BIT_ERRORS}}},
    "host": {
        "kernel": {"cmdline": None, "sysctls": None},
        "modules": {"verbs": None},
        "services": {"defaults": None, "limits": None},
    },
    "stack": {"packages": None},
    "container": {},
    "fabric": {},
}
# Only until all hosts are held against each other.
_JUDGED = {"nccl": ("host", "wish")}
_COMPARED = ("equals", "own")


def of_area(area: str, facts: Any) -> Any:
    """What is kept of one area."""
    return _of(facts, _KEPT.get(area))


def of_host(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of all areas; those of which nothing is are left out."""
    return {area: of_area(area, entry) for area, entry in facts.items() if _KEPT.get(area) != {}}


def in_report(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same, when all is judged."""
    return {
        area: {name: value for name, value in entry.items() if name not in _JUDGED[area]}
        if area in _JUDGED and isinstance(entry, Mapping)
        else entry
        for area, entry in facts.items()
        if area not in _COMPARED
    }


def _of(value: Any, kept: Kept | None) -> Any:
    if kept is None or not isinstance(value, Mapping):
        return value
    every = kept.get("*")
    if every is not None:
        return {name: _of(entry, every) for name, entry in value.items()}
    return {name: _of(value[name], more) for name, more in kept.items() if name in value}
