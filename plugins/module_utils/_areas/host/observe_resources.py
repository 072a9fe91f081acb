# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what memory and CPUs a host has, what is left of them, and what they complain of."""

from __future__ import annotations

import re

from ..._data.ib_counters import PAUSE_S
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.reading import Reading
from ..._ground.text import to_int, to_uptime
from ..._parse import cpu_list, meminfo, pressure
from .facts_machine import Dimm, Ecc, NumaNode, ResourceFacts

CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"
EDAC = "/sys/devices/system/edac/mc"
_NODE = re.compile(r"node[0-9]{1,4}")
_CONTROLLER = re.compile(r"mc[0-9]{1,3}")
_DIMM = re.compile(r"(?:dimm|rank)[0-9]{1,3}")
_LOAD = re.compile(r"(\d{1,9}\.\d{1,3}) (\d{1,9}\.\d{1,3}) (\d{1,9}\.\d{1,3}) ")


def observe(evidence: Evidence) -> ResourceFacts:
    """Everything from files."""
    nodes = _nodes(evidence)
    return ResourceFacts(
        uptime_s=ask.file(evidence, "/proc/uptime", to_uptime),
        memory=ask.file(evidence, "/proc/meminfo", meminfo.parse),
        load=ask.file(evidence, "/proc/loadavg", _load),
        waiting={name: ask.file(evidence, f"/proc/pressure/{name}", pressure.parse) for name in ("cpu", "memory")},
        present=_count(evidence, f"{CPUS}/present"),
        online=_count(evidence, f"{CPUS}/online"),
        smt=ask.text(evidence, f"{CPUS}/smt/control"),
        nodes=nodes.map(lambda found: tuple(node for node, _cpus in found)),
        throttled=_throttled(evidence, nodes),
        ecc=_ecc(evidence),
    )


def _load(text: str) -> tuple[float, ...]:
    found = _LOAD.match(text)
    if found is None:
        raise ValueError("not three load averages")
    one, five, fifteen = found.groups()
    return float(one), float(five), float(fifteen)


def _count(evidence: Evidence, path: str) -> Reading[int]:
    return ask.file(evidence, path, lambda text: len(cpu_list.parse(text)))


def _nodes(evidence: Evidence) -> Reading[tuple[tuple[NumaNode, int], ...]]:
    """Those with CPUs, and the first CPU of each: memory of GPUs and of CXL has none."""
    names = ask.names(evidence, NODES)
    if names.value is None:
        return Reading(None, names.why, names.missing)
    found = []
    for name in filter(_NODE.fullmatch, names.value):
        cpus = ask.file(evidence, f"{NODES}/{name}/cpulist", cpu_list.parse)
        if cpus.value is None:
            return Reading(None, cpus.why)
        memory = ask.file(evidence, f"{NODES}/{name}/meminfo", meminfo.parse_node) if cpus.value else Reading(0)
        if memory.value is None:
            return Reading(None, memory.why)
        if cpus.value:
            found.append((NumaNode(name, memory.value, len(cpus.value)), cpus.value[0]))
    return Reading(tuple(found))


def _throttled(
    evidence: Evidence, nodes: Reading[tuple[tuple[NumaNode, int], ...]]
) -> Reading[dict[str, tuple[int, int]]]:
    """Of one CPU a node, for packages count as a whole; what was never counted is not looked at twice."""
    if nodes.value is None:
        return Reading(None, nodes.why, nodes.missing)
    found: dict[str, tuple[int, int]] = {}
    for _node, cpu in nodes.value:
        path = f"{CPUS}/cpu{cpu}/thermal_throttle/package_throttle_count"
        count = ask.file(evidence, path, to_int)
        if count.value is None:
            return Reading(None, count.why, count.missing)
        more = 0
        if count.value:
            later = _again(evidence, path)
            if later.value is None:
                return Reading(None, later.why)
            more = max(0, later.value - count.value)
        found[f"cpu{cpu}"] = (count.value, more)
    return Reading(found)


def _again(evidence: Evidence, path: str) -> Reading[int]:
    try:
        later, _seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        return Reading(None, str(exc))
    return ask.file(later, path, to_int)


def _ecc(evidence: Evidence) -> Reading[Ecc]:
    """Missing where no driver watches the memory: none is loaded, or a hypervisor keeps it."""
    names = ask.names(evidence, EDAC)
    controllers = [name for name in names.value or () if _CONTROLLER.fullmatch(name)]
    if not controllers:
        return Reading(None, names.why or f"{EDAC}: no memory controller in it", names.missing or names.known)
    dimms: list[Dimm] = []
    since: list[int] = []
    try:
        for name in controllers:
            dimms += _dimms(evidence, name)
            since += filter(None, [ask.file(evidence, f"{EDAC}/{name}/seconds_since_reset", to_int).value])
    except (Unavailable, ValueError) as exc:
        return Reading(None, str(exc))
    return Reading(Ecc(tuple(dimms), min(since, default=None)))


def _dimms(evidence: Evidence, controller: str) -> list[Dimm]:
    """Each module, and what the controller cannot lay at any one's door."""
    base = f"{EDAC}/{controller}"
    found = []
    for name in filter(_DIMM.fullmatch, evidence.list(base)):
        label = ask.text(evidence, f"{base}/{name}/dimm_label").value or ""
        counts = [to_int(evidence.read(f"{base}/{name}/dimm_{kind}_count").strip()) for kind in ("ce", "ue")]
        found.append(Dimm(f"{controller}/{name}", label, *counts))
    corrected, uncorrected = (to_int(evidence.read(f"{base}/{kind}_count").strip()) for kind in ("ce", "ue"))
    rest = (
        max(0, corrected - sum(dimm.corrected for dimm in found)),
        max(0, uncorrected - sum(dimm.uncorrected for dimm in found)),
    )
    if any(rest) or not found:
        found.append(Dimm(controller, "", *rest))
    return found
