# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the error counters of ports twice, some seconds apart."""

from __future__ import annotations

import re
from typing import NamedTuple

from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import (
    COUNTERS,
    PAUSE_S,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import Later
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask, sysfs_ib

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
    if not any(one.known for one in first.values()):
        return {port: Counted(one, Reading(None, one.why)) for port, one in first.items()}
    try:
        after, seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        why = f"no second look at the counters: {exc}"
        return {port: Counted(one, Reading(None, why)) for port, one in first.items()}
    return {
        port: Counted(one, _later(after, port, seconds) if one.known else Reading(None, one.why))
        for port, one in first.items()
    }


def _later(evidence: Evidence, port: str, seconds: float) -> Reading[Later]:
    return _counters(evidence, port).map(lambda values: Later(values, seconds))


def _counters(evidence: Evidence, port: str) -> Reading[dict[str, int]]:
    """The counters of the table that the driver shows; missing where it shows none at all."""
    device, _slash, num = port.partition("/")
    base = f"/sys/class/infiniband/{device}/ports/{num}"
    listed = sysfs_ib.names(evidence, f"{base}/counters")
    more = _ask.names(evidence, f"{base}/hw_counters")
    for one in (listed, more):
        if one.value is None and not one.missing:
            return Reading(None, one.why)
    homes = {"counters": listed.value or [], "hw_counters": more.value or []}
    values: dict[str, int] = {}
    for counter in COUNTERS:
        home = "hw_counters" if counter.hw else "counters"
        if counter.name not in homes[home]:
            continue
        text = _ask.text(evidence, f"{base}/{home}/{counter.name}")
        if text.value is None:
            return Reading(None, text.why)
        if _COUNT.fullmatch(text.value):
            values[counter.name] = int(text.value)
        elif not text.value.startswith(_NO_COUNT):
            return Reading(None, f"{base}/{home}/{counter.name}: {text.value[:40]!r} is no number")
    if not values:
        return Reading(None, f"{base}: it shows none of the known error counters", True)
    return Reading(values)
