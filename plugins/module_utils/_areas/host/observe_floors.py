# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the values that the table of floors names."""

from __future__ import annotations

import contextlib
import ipaddress
import re

from ..._data.floors import CGROUPS, FLOORS, GROUP, HOLD_JOBS, INTERFACE, JOB, SLICE, UNIT
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
    units = services.jobs.map(lambda _jobs: tuple(sorted(services.limits)))
    interfaces = ask.command(evidence, "ip_addr", ip_addr.parse)
    parts = {
        UNIT: units,
        GROUP: _groups(evidence, units),
        JOB: _groups(evidence, units.map(lambda every: tuple(unit for unit in every if unit in HOLD_JOBS))),
        INTERFACE: interfaces.map(lambda every: tuple(one.name for one in every if _is_reached(one))),
    }
    values: dict[str, Reading[str]] = {}
    for row in FLOORS:
        for _part, reads in floors.each(row, parts):
            for wanted in filter(None, (reads, row.of, row.when[0])):
                if wanted not in values:
                    values[wanted] = _value(evidence, services, wanted)
            # What is no number is told by the check.
            with contextlib.suppress(ValueError):
                if row.twice and floors.is_past(row, reads, values):
                    values[reads] = _again(evidence, services, reads)
    return FloorFacts(values, parts)


def _groups(evidence: Evidence, units: Reading[tuple[str, ...]]) -> Reading[tuple[str, ...]]:
    """The control groups in which these units start jobs, below CGROUPS, and the slice that they are in."""
    if not units.value:
        return units
    beside = ask.names(evidence, f"{CGROUPS}/{SLICE}")
    if beside.value is None and not beside.missing:
        return Reading(None, beside.why)
    found = [SLICE]
    for unit in units.value:
        end = HOLD_JOBS.get(unit, "")
        scopes = [name for name in beside.value or () if end and name.endswith(end) and _NAME.fullmatch(name)]
        found += [f"{SLICE}/{name}" for name in scopes or (unit,)]
    return Reading(tuple(found))


def _is_reached(interface: Interface) -> bool:
    """Others reach it; the port to the BMC, inside of the host, has an address of its link alone."""
    reached = (ipaddress.ip_address(one.local) for one in interface.addresses if one.usable and one.scope == "global")
    named = _NAME.fullmatch(interface.name) is not None
    return named and interface.is_hardware and not all(one.is_link_local for one in reached)


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
        if name in lines.value:
            return Reading(lines.value[name])
        # A text without the first line of all is no such file.
        return Reading(None, f"{path}: no line {name}", "MemTotal" in lines.value)
    if "*" in path:
        return _most(evidence, path)
    found = ask.text(evidence, path)
    # The kernel refuses (EINVAL) to tell the speed of a port without a link, or of one that has none.
    told = path.startswith("/sys/class/net/") and path.endswith(("/speed", "/duplex"))
    refused = told and found.why.endswith("invalid argument")
    return Reading(None, found.why, True) if refused else found


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
