# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge how often a link went down over hours and days, before anybody watched it."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..._data.ib_counters import LINK_DOWNED
from ..._data.link_history import DAY_S, DOWNS_A_DAY, DOWNS_A_DAY_TO_PLAN_FOR, DOWNS_AN_HOUR
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped
from ..._rails.ib import Pair
from ..._rails.ib_ports import IbFacts, is_infiniband, port_name
from ..._rails.link_history import LOG, MEMORY, Downs
from .check_counters import unsure
from .fold import fold

_SILENT = "no counter of this port and no line of the log tells of link-downs"
_NOW, _PAST = "ib.port.flapping", "ib.port.unsteady"
_NOW_EXPECTED = f"fewer than {DOWNS_AN_HOUR} link-downs an hour and {DOWNS_A_DAY} a day"
_PAST_EXPECTED = f"fewer than {DOWNS_A_DAY_TO_PLAN_FOR:g} link-downs a day since the boot"
# What the agent remembers has to reach back so far, before it can say that a day was quiet.
_A_DAY = 0.8 * DAY_S
# A log that has most of what a counter counted has the times of it.
_MOST = 1.25


def judge_history(facts: IbFacts, ports: list[Pair]) -> Iterator[Check]:
    """ib.port.flapping and ib.port.unsteady of these ports."""
    checks: list[Check] = []
    for ca, port in ports:
        checks += _port(facts, port_name(ca, port), is_infiniband(port))
    yield from fold(checks, "ports")


def _port(facts: IbFacts, name: str, infiniband: bool) -> Iterator[Check]:
    counted = facts.detail(name).counters
    known = facts.history.get(name)
    downs = known.downs if known is not None else ()
    shown = _shown(downs)
    if known is not None and known.why:
        shown += f"; the health agent's memory cannot be read: {known.why}"
    now = [one for one in downs if _flaps_now(one, downs, infiniband)]
    past = [one for one in downs if _flapped(one, downs, infiniband)]
    undated = [one for one in downs if not one.over_s and one.total >= DOWNS_A_DAY]
    if now:
        yield failed(_NOW, name, _shown(now), _NOW_EXPECTED, CAPABILITY)
        yield skipped(_PAST, name, f"it goes on: see {_NOW}")
        return
    # The silence of a log proves nothing: old kernels do not tell of InfiniBand's links.
    if not past and all(one.timed for one in downs):
        for check_id in (_NOW, _PAST):
            if facts.simulated:
                yield skipped(check_id, name, f"simulated node: {facts.simulated}")
            elif counted.known or counted.missing:
                why = f"no counter of this port tells of link-downs; {shown}" if downs else _SILENT
                yield skipped(check_id, name, why)
            else:
                yield unsure(check_id, name, counted.why or "nobody looked at its counters")
        return
    if undated or not (counted.known or counted.missing):
        why = f"{shown}, and nobody knows since when" if undated else counted.why
        yield unsure(_NOW, name, why)
        yield unsure(_PAST, name, why)
        return
    yield passed(_NOW, name, shown, _NOW_EXPECTED, CAPABILITY)
    if past:
        yield failed(_PAST, name, _shown(past), _PAST_EXPECTED, CAPABILITY)
    else:
        yield passed(_PAST, name, shown, _PAST_EXPECTED, CAPABILITY)


def _flaps_now(one: Downs, downs: Sequence[Downs], infiniband: bool) -> bool:
    if one.timed:
        return one.hour >= DOWNS_AN_HOUR or one.day >= DOWNS_A_DAY
    return _a_day(one) >= DOWNS_A_DAY and not _is_older(one, downs, infiniband) and not _was_then(one, downs)


def _flapped(one: Downs, downs: Sequence[Downs], infiniband: bool) -> bool:
    if one.timed:
        return one.worst >= DOWNS_A_DAY
    return _a_day(one) >= DOWNS_A_DAY_TO_PLAN_FOR and not _is_older(one, downs, infiniband)


def _a_day(one: Downs) -> float:
    """On average; of a host that is up for less than a day, in all."""
    return one.total / max(one.over_s / DAY_S, 1.0) if one.over_s else 0.0


def _is_older(one: Downs, downs: Sequence[Downs], infiniband: bool) -> bool:
    """Whether the HCA's counter outlasted the boot: IPoIB loses its carrier with every link-down of InfiniBand."""
    interfaces = [other for other in downs if not other.timed and other.source not in (one.source, LOG)]
    return infiniband and one.source == LINK_DOWNED and any(not other.total for other in interfaces)


def _was_then(one: Downs, downs: Sequence[Downs]) -> bool:
    """Whether a source with times knows of these downs, and so that they are not of the last day. The
    agent remembers the HCA's counter and no interface's."""
    remembered = one.source == LINK_DOWNED and any(other.source == MEMORY and other.over_s >= _A_DAY for other in downs)
    return remembered or any(other.timed and 0 < one.total <= _MOST * other.total for other in downs)


def _shown(downs: Sequence[Downs]) -> str:
    return "; ".join(_one(one) for one in downs)


def _one(one: Downs) -> str:
    since = f" in {_time(one.over_s)}" if one.over_s else ""
    if not one.timed:
        return f"{one.total or 'none'} by {one.source}{since}"
    if not one.total:
        return f"none by {one.source}{since}"
    return f"{one.total} by {one.source}{since}, {one.day} in the last day, the last {_time(one.last_s)} ago"


def _time(seconds: float) -> str:
    for unit, size in (("days", DAY_S), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
