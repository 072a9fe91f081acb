# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a job's bandwidth a cause costs, from its evidence where that tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .finding import Finding
from .row import Row

_UNIT = re.compile(r"(\d+(?:\.\d+)?) ?(Gb/s|Gbps|GT/s|GB/s|W)\b")
_LANES = re.compile(r"\bx(\d{1,2})\b|\b(\d{1,2})X\b")
_COUNTED = re.compile(r"(?:^|: )(\d{1,3}) \(")
_NUMBER = re.compile(r"\d{1,4}")
_RAILS = ("ib.port.state", "ib.port.idle", "roce.port.state")
_COUNT = "ib.hca.count"
_DEVICES = "host.rdma.devices"


@dataclass(frozen=True)
class Loss:
    """The share that is lost, 0 to 1; ``computed``: from the evidence, and not the usual one."""

    share: float
    computed: bool


def loss(row: Row, own: Sequence[Finding], hosts: Mapping[str, Mapping[str, Any]]) -> Loss:
    """Of these findings of one row. ``hosts``: those of the report."""
    usual = Loss(row.effect.loss if row.loss is None else row.loss, False)
    if row.ratio:
        reported = [entry for entry in map(_ratio, own) if entry is not None]
        return Loss(max(reported), True) if reported else usual
    if row.share and own:
        rails = rails_of(own[0], hosts)
        if rails:
            return Loss(min(1.0, hit(own) / rails), True)
    return usual


def rails_of(finding: Finding, hosts: Mapping[str, Mapping[str, Any]]) -> int:
    """How many rails, or RDMA devices where their files are meant, a host has or should have."""
    host = hosts.get(finding.host)
    if host is None:
        return 0
    if finding.check.id == _DEVICES:
        return _device_files(host["facts"])
    seen = {check["subject"] for check in host["checks"] if check["id"] in _RAILS} - {"host"}
    reported = [check["expected"] for check in host["checks"] if check["id"] == _COUNT]
    wanted = [int(number[0]) for number in map(_NUMBER.search, reported) if number]
    return max([len(seen), *wanted])


def hit(own: Sequence[Finding]) -> int:
    """How many rails these findings of one host are about."""
    missing = 0
    for finding in own:
        seen, wanted = _NUMBER.search(finding.check.observed), _NUMBER.search(finding.check.expected)
        if finding.check.id == _COUNT and seen and wanted:
            missing = max(missing, int(wanted[0]) - int(seen[0]))
    named = {finding.part or finding.check.subject for finding in own if finding.check.id != _COUNT}
    return max(len(named), missing, 1)


def _device_files(facts: Mapping[str, Any]) -> int:
    try:
        return len(facts["host"]["modules"]["verbs"]["value"] or ())
    except (KeyError, TypeError):
        return 0


def _ratio(finding: Finding) -> float | None:
    """One minus what is left, over every unit that observed and expected have in common."""
    check = finding.check
    counted = [int(match) for match in _COUNTED.findall(check.observed)]
    wanted = _NUMBER.search(check.expected)
    if counted and wanted and check.id in (_COUNT, "nccl.log.hcas"):
        return _lost(min(counted), float(wanted[0]))
    left = 1.0
    seen, best = _units(check.observed), _units(check.expected)
    common = seen.keys() & best.keys()
    if not common:
        return None
    for unit in common:
        lost = _lost(seen[unit], best[unit])
        if lost is None:
            return None
        left *= 1 - lost
    return 1 - left


def _lost(seen: float, wanted: float) -> float | None:
    return 1 - seen / wanted if 0 <= seen <= wanted and wanted > 0 else None


def _units(text: str) -> dict[str, float]:
    """The first number of each unit; lanes are one, too."""
    found: dict[str, float] = {}
    for number, unit in _UNIT.findall(text):
        found.setdefault(unit, float(number))
    for before, after in _LANES.findall(text):
        found.setdefault("lanes", float(before or after))
    return found
