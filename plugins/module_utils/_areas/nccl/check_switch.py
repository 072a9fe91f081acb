# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a setting of NCCL that the site wants on or off: in nccl.conf, and in what every job gets before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ..._ask.nccl.copies import for_all
from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expected
from ..._ground.check import Check, failed, passed, unknown
from ..._nccl.problem import short
from ..._parse import strtoll
from ..._parse.nccl_copies import Setting
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
    copies = here.copies
    every = [item for place in (copies.settings, copies.units) for item in place.value or ()]
    set_at = [item for item in every if item.name == switch.name]
    expected = f"{switch.name}={int(wanted.value)}"
    # A shell works out what stands behind these.
    unclear = [item for item in set_at if item.line and for_all(item.place) and set("$`") & set(item.value)]
    otherwise = [item for item in set_at if item not in unclear and switch.on(item.value) != wanted.value]
    for item in otherwise:
        where = f"{short(item.place)}{f':{item.line}' if item.line else ''}"
        cause = "it goes before nccl.conf in the jobs that get this environment"
        remedy = f"take it out of {where}; new logins and restarted services do without"
        seen = f"{switch.name}={short(item.value)}, in {where}"
        yield failed(switch.check_id, where, seen, expected, wanted.source, cause=cause, remedy=remedy)
    mine = settings.get(switch.name)
    on = switch.on(mine) or (wanted.value and not otherwise and any(for_all(item.place) for item in set_at))
    seen = "not set" if mine is None else f"{switch.name}={short(mine)}"
    unread = short(copies.unread) or "".join(
        f"{short(item.place)} sets it to {short(item.value)}" for item in unclear[:1]
    )
    some = _some(here, set_at)
    if on == wanted.value:
        if unread:
            yield unknown(switch.check_id, SYSTEM_FILE, f"what goes before it is not known: {unread}", observed=seen)
        elif not otherwise:
            shown = seen if switch.on(mine) == on else "set for jobs"
            yield passed(switch.check_id, SYSTEM_FILE, shown, expected, wanted.source)
    elif wanted.value and unread:
        yield unknown(switch.check_id, SYSTEM_FILE, f"it may be set for jobs elsewhere: {unread}", observed=seen)
    elif wanted.value and some:
        why = f"{some} sets it, and nobody tells for which jobs"
        yield unknown(switch.check_id, SYSTEM_FILE, why, remedy=switch.set_it, observed=seen)
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


def _some(here: HostFacts, set_at: list[Setting]) -> str:
    """A file that sets it for a service or a job that cannot be told; "" without: units tell of what starts jobs, and
    a user's own file is for that user."""
    own = [conf.path for conf in here.copies.confs.value or () if not conf.who.startswith("/")]
    files = [item.place for item in set_at if not for_all(item.place) and "/systemd/" not in item.place]
    return next((short(place) for place in files if place not in own), "")
