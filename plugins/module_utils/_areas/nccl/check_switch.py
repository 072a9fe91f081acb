# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a setting of NCCL that the site wants on or off: in nccl.conf, and in what every job gets before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expected
from ..._ground.check import Check, failed, passed, unknown
from ..._nccl.problem import short
from ..._parse import strtoll
from .facts import HostFacts


@dataclass(frozen=True)
class Switch:
    """``set_it``: the remedy where it is wanted and not set; ``unwanted``: the cause where it is on and is not to be.
    ``usual``: the number by which NCCL chooses itself, and chooses off."""

    check_id: str
    name: str
    set_it: str
    unwanted: str = ""
    usual: int = 0

    def on(self, value: str | None) -> bool:
        """As NCCL reads it."""
        return value is not None and strtoll.number(value).value not in (None, 0, self.usual)


def judge(switch: Switch, wanted: Expected, here: HostFacts) -> Iterator[Check]:
    """One check for each place that sets it otherwise; else one of nccl.conf."""
    settings = here.settings.value
    if settings is None:
        yield unknown(switch.check_id, SYSTEM_FILE, here.settings.why or "nobody looked at the settings")
        return
    places = (here.copies.settings, here.copies.units)
    set_at = [
        (item.place, item.line, item.value)
        for place in places
        for item in place.value or ()
        if item.name == switch.name
    ]
    expected = f"{switch.name}={int(wanted.value)}"
    otherwise = [item for item in set_at if switch.on(item[2]) != wanted.value]
    for place, line, value in otherwise:
        where = f"{short(place)}{f':{line}' if line else ''}"
        cause = "it goes before nccl.conf in the jobs that get this environment"
        remedy = f"take it out of {where}; new logins and restarted services do without"
        seen = f"{switch.name}={short(value)}, in {where}"
        yield failed(switch.check_id, where, seen, expected, wanted.source, cause=cause, remedy=remedy)
    mine = settings.get(switch.name)
    on = switch.on(mine) or (wanted.value and bool(set_at) and not otherwise)
    seen = "not set" if mine is None else f"{switch.name}={short(mine)}"
    unread = next((place.why or "nobody searched" for place in places if place.value is None and not place.missing), "")
    if on == wanted.value:
        if unread:
            yield unknown(switch.check_id, SYSTEM_FILE, f"what goes before it is not known: {unread}", observed=seen)
        elif not otherwise:
            yield passed(
                switch.check_id,
                SYSTEM_FILE,
                seen if mine is not None or not on else "set for jobs",
                expected,
                wanted.source,
            )
    elif wanted.value and unread:
        yield unknown(switch.check_id, SYSTEM_FILE, f"it may be set for jobs elsewhere: {unread}", observed=seen)
    elif wanted.value:
        cause = (
            f"{SYSTEM_FILE} says {seen}"
            if mine is not None
            else f"neither {SYSTEM_FILE} nor what every job gets sets it"
        )
        yield failed(switch.check_id, SYSTEM_FILE, seen, expected, wanted.source, cause=cause, remedy=switch.set_it)
    else:
        cause = switch.unwanted
        remedy = f"take {switch.name} out of {SYSTEM_FILE} and of nccl_conf_variables"
        yield failed(switch.check_id, SYSTEM_FILE, seen, expected, wanted.source, cause=cause, remedy=remedy)
