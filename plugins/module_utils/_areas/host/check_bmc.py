# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the BMC tells of fans, power supplies and temperatures, and what its log holds."""

from __future__ import annotations

import datetime
import re
from typing import Iterator

from ..._data.bmc import EVENTS, FAULTS, HOT_ABOVE, RECENT_DAYS, STANDING
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed, grave, passed, skipped, unknown
from ..._ground.text import few
from ..._parse.ipmi_sdr import COOLING, POWER, Sensor
from ..._parse.ipmi_sel import Event
from ..._parse.redfish import Part
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import HostFacts
from .facts_machine import BmcFacts

_SENSORS, _LOG = "host.bmc.sensors", "host.bmc.log"
_FAULT = re.compile("|".join(FAULTS))
_EVENT = re.compile("|".join((*FAULTS, *EVENTS)))
# Of a threshold by its side (lower, upper) as `sdr elist` says it, and without as `sdr list` does.
_BEYOND = ("lcr", "ucr", "lnr", "unr", "cr", "nr")
_TOO_HOT, _OF_A_GPU = ("ucr", "unr"), re.compile(r"(?i)(?<![A-Z])GPU")
_NEAR = ("lnc", "unc", "nc")
_NO_READING = "ns"
_STATUSES = ("ok", _NO_READING, *_BEYOND, *_NEAR)
# A clock that says less was never set.
_FIRST_DAY = "2010"
_SHOWN = 4
_SET_CLOCK = (
    "see `ipmitool sel elist`; set its clock (`ipmitool sel time set now`), and clear the log when it is dealt with"
)
_WELL = "no fault"
_POWER = "a power supply has failed or has no input: the others carry the load, and one more is too many"
_FAN = "a fan has failed: the others run faster, and what it cooled gets hotter"
_HOT = Cause(
    "too hot: a fan, the air of the room, or a heat sink",
    "drain the host; look at fans, inlet and the parts beside it (`ipmitool sdr elist`); mend the cooling; replace the "
    "part only where its neighbours are cool",
)
_OTHER = "the BMC reports a fault of this part"


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.bmc.* checks."""
    scope = check_scope.real(machine).then(check_scope.outside_container(machine)).then(check_scope.bare_metal(machine))
    found = facts.bmc
    return [*scope.judge(_SENSORS, lambda: _sensors(found)), *scope.judge(_LOG, lambda: [_log(found)])]


def _sensors(found: BmcFacts) -> list[Check]:
    """What is wrong by either road; where one of them tells nothing, that is unknown beside it."""
    bad: dict[str, Check] = {}
    looked: list[str] = []
    untold = [] if found.sensors.known or found.sensors.missing else [found.sensors.why]
    untold += [reading.why for reading in found.parts if not reading.known and not reading.missing]
    if found.sensors.value is not None:
        read = sum(sensor.status != _NO_READING for sensor in found.sensors.value)
        looked.append(f"{read} sensors")
        untold += [] if read else ["none of the BMC's sensors has a reading"]
        strange = [sensor for sensor in found.sensors.value if sensor.status not in _STATUSES]
        untold += [f"{sensor.name} has the status {sensor.status!r}, which nobody knows" for sensor in strange[:1]]
        bad.update((check.subject, check) for check in _of_sensors(found.sensors.value))
    parts = [part for reading in found.parts for part in reading.value or ()]
    if parts:
        told = sum(bool(part.health) for part in parts)
        looked.append(f"{told} parts by Redfish")
        untold += [] if told else ["Redfish tells the health of no part"]
        bad.update((check.subject, check) for check in _of_parts(parts))
    if untold:
        return [*bad.values(), unknown(_SENSORS, "bmc", untold[0] or "nobody looked")]
    if not looked:
        return [skipped(_SENSORS, HOST, found.sensors.why)]
    near = [f"{sensor.name} {sensor.reading}" for sensor in found.sensors.value or () if sensor.status in _NEAR]
    shown = f"; beyond a first threshold: {few(near, _SHOWN)}" if near else ""
    return list(bad.values()) or [passed(_SENSORS, HOST, f"{', '.join(looked)}{shown}", _WELL, CAPABILITY)]


def _of_sensors(sensors: tuple[Sensor, ...]) -> Iterator[Check]:
    for sensor in sensors:
        states = _FAULT.search(sensor.reading)
        beyond = sensor.status in _BEYOND
        degrees = sensor.degrees
        if degrees is not None and degrees <= HOT_ABOVE:
            beyond = False
        if states is None and not beyond:
            continue
        observed = sensor.reading if states is not None else f"{sensor.reading} ({sensor.status})"
        found = failed(_SENSORS, sensor.name or "bmc", observed, _WELL, CAPABILITY, cause=_why(sensor))
        # A GPU beyond its upper critical threshold is slowed down or switched off.
        yield (
            grave(found)
            if degrees is not None and sensor.status in _TOO_HOT and _OF_A_GPU.search(sensor.name)
            else found
        )


def _why(sensor: Sensor) -> str:
    if sensor.degrees is not None:
        return _HOT
    if sensor.reading.endswith("RPM") or sensor.entity in COOLING or re.search(r"(?i)\bfans?", sensor.name):
        return _FAN
    return _POWER if sensor.entity in POWER or re.search(r"(?i)\b(?:PSU?\d*|power)", sensor.name) else _OTHER


def _of_parts(parts: list[Part]) -> Iterator[Check]:
    causes = {"Temperatures": _HOT, "Fans": _FAN, "PowerSupplies": _POWER}
    for part in parts:
        if part.health in ("Warning", "Critical"):
            observed = f"{part.reading} ({part.health})" if part.reading else part.health
            yield failed(_SENSORS, part.name, observed, _WELL, CAPABILITY, cause=causes.get(part.kind, _OTHER))


def _log(found: BmcFacts) -> Check:
    """What was asserted last of each sensor counts where it is recent and no reading says that it is
    over; all else is history."""
    if found.log.missing:
        return skipped(_LOG, HOST, found.log.why)
    if found.log.value is None:
        return unknown(_LOG, "bmc", found.log.why or "nobody looked")
    if found.today.value is None:
        return unknown(_LOG, HOST, found.today.why or "nobody looked")
    since = datetime.date.fromisoformat(found.today.value) - datetime.timedelta(days=RECENT_DAYS)
    last: dict[tuple[str, int | None, str], Event] = {}
    for event in found.log.value:
        last[(event.sensor, event.number, event.what)] = event
    faults = [event for event in last.values() if event.asserted is not False and _EVENT.search(event.what)]
    over = _over(found)
    open_now = [event for event in faults if event.day >= since.isoformat() and not _is_over(event, over)]
    if open_now:
        observed = few([_said(event) for event in reversed(open_now)], _SHOWN, "; ")
        return failed(_LOG, HOST, observed, f"no fault in {RECENT_DAYS} days", CAPABILITY)
    undated = [event for event in faults if event.day < _FIRST_DAY and not _is_over(event, over)]
    if undated:
        why = f"the BMC's clock was not set when it wrote {_said(undated[-1])}: nobody can tell how old that is"
        return unknown(_LOG, "bmc", why, remedy=_SET_CLOCK)
    history = f"; history: {few([_said(event) for event in reversed(faults)], 2, '; ')}" if faults else ""
    observed = f"{len(found.log.value)} events{history}"
    return passed(_LOG, HOST, observed, f"no fault in {RECENT_DAYS} days", CAPABILITY)


def _said(event: Event) -> str:
    return f"{event.day or 'before the clock was set'} {event.sensor} {event.what}".replace("  ", " ")


def _over(found: BmcFacts) -> set[int]:
    """The sensors that read well now."""
    return {
        sensor.number
        for sensor in found.sensors.value or ()
        if sensor.status == "ok" and _FAULT.search(sensor.reading) is None
    }


def _is_over(event: Event, well: set[int]) -> bool:
    return event.sensor.startswith(STANDING) and event.number in well
