# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent remembers of ports over looks and boots: their error counters, with times.

ports.json beside the agent's other state, read by _areas/ib/observe_history. It is kept small: one
look in half an hour for a day, then four a day for 30 days; counters that are 0 are left out.
"""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from .._evidence.sources import Live, Unavailable
from .._ground import state, strict
from .._ground.command import decode
from .._ground.paths import read_regular
from .._rails.link_history import MEMORY_SCHEMA
from .settings import Settings

_OFTEN_S, _SELDOM_S = 1800.0, 6 * 3600.0
_RECENT_S, _OLD_S = 86400.0, 30 * 86400.0
# Of a node whose clock jumps: never more than these.
_KEEP = 200
_BOOT, _UPTIME = "/proc/sys/kernel/random/boot_id", "/proc/uptime"

Ports = Mapping[str, Mapping[str, int]]


def path(settings: Settings) -> str:
    """Where the samples lie."""
    return os.path.join(settings.state, "ports.json")


def counters(facts: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """The counters of every port, by "device/port", as a look's facts of area ib have them."""
    details = facts.get("ib", {}).get("details", {})
    known = {name: entry["counters"]["value"] for name, entry in details.items()}
    return {name: {key: n for key, n in values.items() if n} for name, values in known.items() if values is not None}


def remember(settings: Settings, ports: Ports, now: float) -> bool:
    """Add this look where the last one is old enough; raises OSError. False: nothing was to be kept."""
    if not ports:
        return False
    try:
        live = Live(settings.root)
        boot, up_s = live.read(_BOOT).strip(), float(live.read(_UPTIME).split()[0])
    except (Unavailable, ValueError, IndexError):
        return False
    kept = thinned(_last(settings), now)
    if kept and kept[-1]["boot"] == boot and now - kept[-1]["at"] < _OFTEN_S:
        return False
    sample = {"at": now, "boot": boot, "up_s": up_s, "ports": {name: dict(values) for name, values in ports.items()}}
    text = json.dumps({"schema": MEMORY_SCHEMA, "samples": [*kept, sample][-_KEEP:]})
    state.write(path(settings), text + "\n", 0o644)
    return True


def thinned(samples: list[dict[str, Any]], now: float) -> list[dict[str, Any]]:
    """Those that are still of use: of the last day all, before that the first of every six hours."""
    kept: list[dict[str, Any]] = []
    for sample in sorted(samples, key=lambda one: one["at"]):
        age = now - sample["at"]
        if not 0 <= age <= _OLD_S:
            continue  # the clock was set back, or it is long ago
        if age <= _RECENT_S or not kept or sample["at"] - kept[-1]["at"] >= _SELDOM_S:
            kept.append(sample)
    return kept


def _last(settings: Settings) -> list[dict[str, Any]]:
    """What was kept; nothing where it cannot be read, for all of it comes again."""
    place = path(settings)
    try:
        raw = strict.loads(decode(read_regular(place, place)))
        if raw["schema"] != MEMORY_SCHEMA:
            return []
        return [
            {"at": float(one["at"]), "boot": str(one["boot"]), "up_s": float(one["up_s"]), "ports": dict(one["ports"])}
            for one in raw["samples"]
        ]
    except (Unavailable, ValueError, TypeError, KeyError):
        return []
