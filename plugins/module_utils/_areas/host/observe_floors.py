# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the values that the table of floors names."""

from __future__ import annotations

import ipaddress
import re

from ..._data.floors import FLOORS, HOLD_JOBS, INTERFACE, JOB, UNIT
from ..._data.ib_counters import PAUSE_S
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._parse import ip_addr, meminfo
from ..._parse.ip_addr import Interface
from . import floors
from .facts import ServiceFacts
from .facts_machine import FloorFacts

_NAME = re.compile(r"[A-Za-z0-9@_.-]{1,40}")


def observe(evidence: Evidence, services: ServiceFacts) -> FloorFacts:
    """Each file once; a value past its floor a second time where the row asks for it."""
    units = tuple(sorted(services.limits))
    interfaces = ask.command(evidence, "ip_addr", ip_addr.parse)
    parts = {UNIT: units, JOB: tuple(unit for unit in units if unit in HOLD_JOBS)}
    parts[INTERFACE] = tuple(one.name for one in interfaces.value or () if _is_reached(one))
    values: dict[str, Reading[str]] = {}
    for row in FLOORS:
        for _part, reads in floors.each(row, parts):
            for wanted in filter(None, (reads, row.of, row.when[0])):
                if wanted not in values:
                    values[wanted] = _value(evidence, services, wanted)
            if row.twice and floors.is_past(row, reads, values):
                values[reads] = _again(evidence, services, reads)
    return FloorFacts(values, parts)


def _is_reached(interface: Interface) -> bool:
    """Others reach it; the port to the BMC, inside of the host, has an address of its link alone."""
    reached = (ipaddress.ip_address(one.local) for one in interface.addresses if one.usable and one.scope == "global")
    return _NAME.fullmatch(interface.name) is not None and not all(one.is_link_local for one in reached)


def _again(evidence: Evidence, services: ServiceFacts, reads: str) -> Reading[str]:
    try:
        later, _seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        return Reading(None, str(exc))
    return _value(later, services, reads)


def _value(evidence: Evidence, services: ServiceFacts, reads: str) -> Reading[str]:
    path, _blank, name = reads.partition(" ")
    if path in services.limits:
        limits = services.limits[path]
        if limits.value is None or name not in limits.value.soft:
            return Reading(None, limits.why or f"/proc/PID/limits of {path}: no line {name}")
        return Reading(str(limits.value.soft[name]))
    if name:
        lines = ask.file(evidence, path, meminfo.fields)
        if lines.value is None:
            return Reading(None, lines.why)
        return Reading(lines.value.get(name), f"no line {name}", name not in lines.value)
    if "*" in path:
        return _most(evidence, path)
    found = ask.text(evidence, path)
    # The kernel refuses to tell the speed of a port without a link, or of one that has none.
    return Reading(None, found.why, True) if path.startswith("/sys/class/net/") and not found.known else found


def _most(evidence: Evidence, path: str) -> Reading[str]:
    """Of all files with such a path the highest number; of words those that there are."""
    folder, _star, rest = path.partition("*")
    folder, _slash, start = folder.rpartition("/")
    names = ask.names(evidence, folder)
    own = [name for name in names.value or () if name.startswith(start) and name[len(start) :].isdecimal()]
    if not own:
        return Reading(None, names.why or f"{path}: there is none", names.missing or names.known)
    found = [ask.text(evidence, f"{folder}/{name}{rest}") for name in own]
    lost = next((one for one in found if one.value is None), None)
    if lost is not None:
        return lost
    texts = {one.value or "" for one in found}
    numbers = [int(text) for text in texts if text.isdecimal() and len(text) < 16]
    return Reading(str(max(numbers)) if len(numbers) == len(texts) else " and ".join(sorted(texts)))
