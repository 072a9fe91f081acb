# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether jobs of this host ask for SHARP as the site wants it."""

from __future__ import annotations

from typing import Iterator

from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._nccl.problem import short
from ..._parse import strtoll
from .check_log_collnet import ENABLE
from .facts import HostFacts

ENABLED = "nccl.sharp.enabled"
_SET = "nccl_conf_variables: {NCCL_COLLNET_ENABLE: '1'}; playbooks/converge.yml --tags nccl_conf writes it"


def judge(here: HostFacts, expect: Expectations) -> Iterator[Check]:
    """One check for each place that sets it otherwise; else one of nccl.conf."""
    wanted, settings = expect.get("sharp"), here.settings.value
    if wanted is None:
        seen = f": {ENABLE}={short(settings[ENABLE])}" if settings and ENABLE in settings else ""
        yield skipped(ENABLED, SYSTEM_FILE, f"the inventory does not say whether jobs use SHARP (expect.sharp){seen}")
        return
    if settings is None:
        yield unknown(ENABLED, SYSTEM_FILE, here.settings.why or "nobody looked at the settings")
        return
    places = (here.copies.settings, here.copies.units)
    set_at = [
        (item.place, item.line, item.value) for place in places for item in place.value or () if item.name == ENABLE
    ]
    expected = f"{ENABLE}={int(wanted.value)}"
    otherwise = [item for item in set_at if _on(item[2]) != wanted.value]
    for place, line, value in otherwise:
        where = f"{short(place)}{f':{line}' if line else ''}"
        cause = "it goes before nccl.conf in the jobs that get this environment"
        remedy = f"take it out of {where}; new logins and restarted services do without"
        seen = f"{ENABLE}={short(value)}, in {where}"
        yield failed(ENABLED, where, seen, expected, wanted.source, cause=cause, remedy=remedy)
    mine = settings.get(ENABLE)
    on = _on(mine) or (wanted.value and bool(set_at) and not otherwise)
    seen = "not set" if mine is None else f"{ENABLE}={short(mine)}"
    unread = next((place.why or "nobody searched" for place in places if place.value is None and not place.missing), "")
    if on == wanted.value:
        if unread:
            yield unknown(ENABLED, SYSTEM_FILE, f"what goes before it is not known: {unread}", observed=seen)
        elif not otherwise:
            yield passed(
                ENABLED, SYSTEM_FILE, seen if mine is not None or not on else "set for jobs", expected, wanted.source
            )
    elif wanted.value and unread:
        yield unknown(ENABLED, SYSTEM_FILE, f"it may be set for jobs elsewhere: {unread}", observed=seen)
    elif wanted.value:
        cause = (
            f"{SYSTEM_FILE} says {seen}"
            if mine is not None
            else f"neither {SYSTEM_FILE} nor what every job gets sets it"
        )
        yield failed(ENABLED, SYSTEM_FILE, seen, expected, wanted.source, cause=cause, remedy=_SET)
    else:
        cause = "jobs try CollNet on a fabric on which the site has no SHARP"
        remedy = f"take {ENABLE} out of {SYSTEM_FILE} and of nccl_conf_variables"
        yield failed(ENABLED, SYSTEM_FILE, seen, expected, wanted.source, cause=cause, remedy=remedy)


def _on(value: str | None) -> bool:
    """As NCCL reads it."""
    return value is not None and strtoll.number(value).value not in (None, 0)
