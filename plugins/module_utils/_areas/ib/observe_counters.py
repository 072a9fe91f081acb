# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the error counters of ports twice, some seconds apart."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..._data.ib_counters import COUNTERS, PAUSE_S
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._rails.ib_ports import Later
from . import sysfs

_COUNT = re.compile(r"[0-9]{1,20}")
# What the kernel writes where the port has no such counter.
_NO_COUNT = "N/A"


class Counted(NamedTuple):
    """One port's counters, and the same counters after the pause."""

    first: Reading[dict[str, int]]
    later: Reading[Later]


def read(evidence: Evidence, ports: list[str]) -> dict[str, Counted]:
    """The counters of these ports ("device/port"); nobody waits where there are none."""
    first = {port: _counters(evidence, port) for port in ports}
    if not any(entry.known for entry in first.values()):
        return {port: Counted(entry, Reading(None, entry.why)) for port, entry in first.items()}
    try:
        after, seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        why = f"no second look at the counters: {exc}"
        return {port: Counted(entry, Reading(None, why)) for port, entry in first.items()}
    return {
        port: Counted(entry, _later(after, port, seconds) if entry.known else Reading(None, entry.why))
        for port, entry in first.items()
    }


def _later(evidence: Evidence, port: str, seconds: float) -> Reading[Later]:
    return _counters(evidence, port).map(lambda values: Later(values, seconds))


def _counters(evidence: Evidence, port: str) -> Reading[dict[str, int]]:
    """The counters of the table that the driver shows; missing where it shows none at all."""
    device, _slash, num = port.partition("/")
    base = f"/sys/class/infiniband/{device}/ports/{num}"
    listed = sysfs.names(evidence, f"{base}/counters")
    more = ask.names(evidence, f"{base}/hw_counters")
    for entry in (listed, more):
        if entry.value is None and not entry.missing:
            return Reading(None, entry.why)
    homes = {"counters": listed.value or [], "hw_counters": more.value or []}
    values: dict[str, int] = {}
    for counter in COUNTERS:
        home = "hw_counters" if counter.hw else "counters"
        if counter.name not in homes[home]:
            continue
        text = ask.text(evidence, f"{base}/{home}/{counter.name}")
        if text.value is None:
            return Reading(None, text.why)
        if _COUNT.fullmatch(text.value):
            values[counter.name] = int(text.value)
        elif not text.value.startswith(_NO_COUNT):
            return Reading(None, f"{base}/{home}/{counter.name}: {text.value[:40]!r} is no number")
    if not values:
        return Reading(None, f"{base}: it shows none of the known error counters", True)
    return Reading(values)
