# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what Redfish tells of a chassis: the resources Thermal and Power (DSP0266, Thermal.v1, Power.v1)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterator

from .._ground.text import ParseError, flat_lines

_TOOL = "redfish"
_PARTS = ("Temperatures", "Fans", "PowerSupplies", "Voltages", "Redundancy")
# States of what is not there, or not meant to work (Resource.Status).
_AWAY = ("Absent", "Disabled", "StandbySpare", "StandbyOffline", "InTest", "Starting")


@dataclass(frozen=True)
class Part:
    """``health``: OK, Warning or Critical, "" where the BMC does not say. ``reading``: with its unit, or ""."""

    name: str
    kind: str
    health: str
    reading: str = ""


def parse(text: str) -> tuple[Part, ...]:
    """Read the parts that are there; raise ParseError on a text that is no such resource."""
    try:
        found = json.loads("\n".join(flat_lines(text)))
    except (ValueError, RecursionError):
        raise ParseError(_TOOL, 0, "", "not JSON") from None
    if not isinstance(found, dict) or not any(isinstance(found.get(part), list) for part in _PARTS):
        raise ParseError(_TOOL, 0, "", f"none of {', '.join(_PARTS)} in it")
    return tuple(_parts(found))


def _parts(found: dict[str, Any]) -> Iterator[Part]:
    for kind in _PARTS:
        entries = found.get(kind)
        for entry in entries if isinstance(entries, list) else ():
            status = entry.get("Status") if isinstance(entry, dict) else None
            if not isinstance(status, dict) or status.get("State") in _AWAY:
                continue
            name = entry.get("Name") or entry.get("FanName") or entry.get("MemberId") or kind
            yield Part(str(name), kind, str(status.get("Health") or ""), _reading(entry))


def _reading(entry: dict[str, Any]) -> str:
    if isinstance(entry.get("ReadingCelsius"), (int, float)):
        return f"{entry['ReadingCelsius']} degrees C"
    if isinstance(entry.get("Reading"), (int, float)):
        return f"{entry['Reading']} {entry.get('ReadingUnits') or ''}".strip()
    return ""
