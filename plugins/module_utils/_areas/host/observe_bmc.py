# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what the baseboard management controller tells: its sensors and its event log."""

from __future__ import annotations

import datetime
import re

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import ipmi_sdr, ipmi_sel, redfish
from ..._parse.ipmi_sel import Event
from ..._parse.redfish import Part
from ..._parse.systemctl_show import Show, parse as show
from .facts_machine import BmcFacts

DEVICE = "/dev/ipmi0"
# Somebody asked the BMC over its network and put the answers into a bundle.
_REDFISH = ("redfish_thermal", "redfish_power")
_NOT_GIVEN = "not in the bundle"
_DAY = re.compile(r"\b(\d{4}-\d\d-\d\d)\b")
_NO_TOOL = "ipmitool is not installed, so the BMC was not asked"
_NO_BMC = f"the kernel sees no BMC ({DEVICE})"


def observe(evidence: Evidence) -> BmcFacts:
    """Asked only where the kernel has found one; a BMC that did not tell of its sensors is not
    asked for its log."""
    parts = _parts(evidence)
    today = ask.command(evidence, "timedatectl_show", show).map(_today)
    device = ask.mode(evidence, DEVICE)
    if not device.known:
        why = _NO_BMC if device.missing else device.why
        return BmcFacts(Reading(None, why, device.missing), Reading(None, why, device.missing), parts, today)
    sensors = ask.optional(evidence, "ipmi_sdr", ipmi_sdr.parse)
    if not sensors.known:
        why = _NO_TOOL if sensors.missing else sensors.why
        log: Reading[tuple[Event, ...]] = Reading(None, why, sensors.missing)
        return BmcFacts(Reading(None, why, sensors.missing), log, parts, today)
    return BmcFacts(sensors, _log(evidence), parts, today)


def _log(evidence: Evidence) -> Reading[tuple[Event, ...]]:
    """ipmitool says on its other output that the log is empty."""
    found = ask.command(evidence, "ipmi_sel", ipmi_sel.parse)
    return Reading(()) if not found.known and ipmi_sel.EMPTY in found.why else found


def _parts(evidence: Evidence) -> tuple[Reading[tuple[Part, ...]], ...]:
    """A live host is not asked: its BMC answers in another network."""
    given: tuple[str, ...] = getattr(evidence, "given", ())
    asked = [name for name in _REDFISH if evidence.recorded or name in given]
    told = [ask.command(evidence, name, redfish.parse) for name in asked]
    return tuple(reading for reading in told if reading.known or _NOT_GIVEN not in reading.why)


def _today(found: Show) -> str:
    day = _DAY.search(found.all.get("TimeUSec", ""))
    if day is None:
        raise ValueError("timedatectl_show: no date in TimeUSec")
    return datetime.date.fromisoformat(day.group(1)).isoformat()
