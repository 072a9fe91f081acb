# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge error counters: how fast they rise, and whether they can rise any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator

from ..._data.ib_counters import COUNTERS, LINK_DOWNED, QUERIED, Counter
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse.perfquery import Block
from ..._rails.ib import Pair
from ..._rails.ib_ports import History, IbFacts, Later, port_name
from .fold import fold

_STORM = "ib.port.error_storm"
_CHECKS = ("ib.port.errors", _STORM, "ib.port.flaps", "ib.port.saturated")
_BY_NAME = {counter.name: counter for counter in COUNTERS}
_DAY = 86400
_HOUR = 3600.0
_GONE = "{} was there at the first look and not at the second"
_CLEAR = "clear the port's counters with `perfquery -R -C DEVICE -P PORT`, then verify again"
# What 64-bit and 32-bit counters stop at.
_FULL = (2**64 - 1, 2**32 - 1)


def unsure(check_id: str, name: str, why: str, remedy: str = "verify again") -> Check:
    """What a second look would tell, and keeps no host from being ready: the port's state is judged by itself."""
    return replace(unknown(check_id, name, why, remedy=remedy), severity="warning")


def judge_counters(facts: IbFacts, ports: list[Pair], roce: list[Pair]) -> Iterator[Check]:
    """The error counters of InfiniBand ports and RoCE rails; of those the counters of the link alone."""
    checks: list[Check] = []
    for ca, port in [*ports, *roce]:
        mine = [counter for counter in COUNTERS if not (counter.hw and (ca, port) in roce)]
        checks += _port(facts, port_name(ca, port), mine)
    yield from fold(checks, "ports")


def _port(facts: IbFacts, name: str, counters: list[Counter]) -> Iterator[Check]:
    detail = facts.detail(name)
    if detail.counters.value is None:
        why = detail.counters.why or "nobody looked at its counters"
        for check_id in _CHECKS:
            if not detail.counters.missing:
                yield unknown(check_id, name, why)
            elif facts.simulated:
                yield skipped(check_id, name, f"simulated node: {facts.simulated}")
            else:
                yield skipped(check_id, name, "the driver shows no error counters of this port")
        return
    first = detail.counters.value
    known = facts.history.get(name, History())
    twice: tuple[tuple[str, Callable[[Later], Check]], ...] = (
        ("ib.port.errors", lambda later: _errors(name, first, later, known, counters)),
        (_STORM, lambda later: _storm(name, first, later, counters)),
        ("ib.port.flaps", lambda later: _flaps(facts, name, first, later)),
    )
    for check_id, judge in twice:
        later = detail.later
        yield unsure(check_id, name, later.why or "nobody looked") if later.value is None else judge(later.value)
    yield _saturated(name, first, {key: _BY_NAME[key].bits for key in first})


def _errors(name: str, first: dict[str, int], later: Later, known: History, counters: list[Counter]) -> Check:
    expected = "no error counter rises"
    why = _why_not_compared(first, later.values)
    if why:
        return unsure("ib.port.errors", name, why)
    risen: list[Counter] = []
    reported: list[str] = []
    shown = f"in {later.seconds:.1f} s"
    for counter in counters:
        if counter.name not in first or counter.name == LINK_DOWNED:
            continue
        count, seconds = later.values[counter.name] - first[counter.name], later.seconds
        within = ""
        if not _too_fast(counter, count, seconds) and counter.name in known.rises:
            count, seconds = known.rises[counter.name].count, known.rises[counter.name].seconds
            within = f" in {seconds / _HOUR:.1f} h (the health agent's memory)"
        # What came at once is a moment of one job; over less than an hour the short look tells more.
        if within and seconds < _HOUR:
            continue
        if _too_fast(counter, count, seconds):
            risen.append(counter)
            reported.append(f"{counter.name} +{count}{within or f' {shown}'}")
    if risen:
        return _risen("ib.port.errors", name, ", ".join(reported), expected, risen)
    return passed("ib.port.errors", name, f"no rise {shown}", expected, CAPABILITY)


def _risen(check_id: str, name: str, observed: str, expected: str, risen: list[Counter]) -> Check:
    """By the worst of them; what the link itself does before what others send over it."""
    worst = min(risen, key=lambda counter: bool(counter.remedy))
    return failed(
        check_id, name, observed, expected, CAPABILITY, cause=f"{worst.name}: {worst.says}", remedy=worst.remedy
    )


def _too_fast(counter: Counter, count: int, seconds: float) -> bool:
    return count >= counter.at_least and count * 3600 > counter.per_hour * max(seconds, 0.001)


def _why_not_compared(first: dict[str, int], later: dict[str, int]) -> str:
    """Why the two looks cannot be held against each other, "" where they can."""
    for name, before in first.items():
        after = later.get(name)
        if name == LINK_DOWNED:
            continue
        if after is None:
            return _GONE.format(name)
        if after < before:
            return f"{name} went from {before} to {after}: somebody cleared the counters"
    return ""


def _storm(name: str, first: dict[str, int], later: Later, counters: list[Counter]) -> Check:
    expected = "no error counter rises so fast that jobs wait"
    why = _why_not_compared(first, later.values)
    if why:
        return unsure(_STORM, name, why)
    risen: list[Counter] = []
    reported: list[str] = []
    for counter in counters:
        if counter.name not in first or counter.storm_per_s is None:
            continue
        count = later.values[counter.name] - first[counter.name]
        if count >= counter.at_least and count > counter.storm_per_s * max(later.seconds, 0.001):
            risen.append(counter)
            reported.append(f"{counter.name} +{count}")
    shown = f"in {later.seconds:.1f} s"
    if risen:
        return _risen(_STORM, name, f"{', '.join(reported)} {shown}", expected, risen)
    return passed(_STORM, name, f"none {shown}", expected, CAPABILITY)


def _flaps(facts: IbFacts, name: str, first: dict[str, int], later: Later) -> Check:
    before, after = first.get(LINK_DOWNED), later.values.get(LINK_DOWNED)
    if before is None:
        return skipped("ib.port.flaps", name, f"the driver shows no {LINK_DOWNED} of this port")
    if after is None:
        return unsure("ib.port.flaps", name, _GONE.format(LINK_DOWNED))
    expected = f"{LINK_DOWNED} does not rise"
    if after < before:
        why = f"{LINK_DOWNED} went from {before} to {after}: somebody cleared the counters"
        return unsure("ib.port.flaps", name, why)
    if after > before:
        observed = f"{LINK_DOWNED} {before} to {after} in {later.seconds:.1f} s"
        return failed("ib.port.flaps", name, observed, expected, CAPABILITY)
    if before == after == 2 ** _BY_NAME[LINK_DOWNED].bits - 1:
        why = f"{LINK_DOWNED} is full at {after}, and counts no more"
        return unsure("ib.port.flaps", name, why, remedy=_CLEAR)
    days = facts.uptime_s / _DAY
    since = f", the host is up for {days:.1f} days" if facts.uptime_s and after else ""
    return passed("ib.port.flaps", name, f"{after} so far{since}", expected, CAPABILITY)


def _of_damage(shown: str) -> bool:
    """By the name that sysfs or perfquery has for a counter."""
    counter = _BY_NAME.get(shown) or QUERIED.get(shown)
    return counter is not None and counter.damage


def _saturated(name: str, values: dict[str, int], bits: dict[str, int]) -> Check:
    """Whether what counts damage can still rise; one counter that is full is history."""
    full = [
        shown for shown, value in values.items() if value in _FULL or (bits[shown] and value == 2 ** bits[shown] - 1)
    ]
    telling = [shown for shown in values if _of_damage(shown)]
    expected = "a counter of damage that can rise"
    if telling and set(telling) <= set(full):
        observed = ", ".join(f"{shown} {values[shown]}" for shown in full)
        return failed("ib.port.saturated", name, observed, expected, CAPABILITY)
    high = [f"{shown} {value}{' (full)' * (shown in full)}" for shown, value in values.items() if value]
    observed = f"since they were cleared: {', '.join(high)}" if high else "all at 0"
    return passed("ib.port.saturated", name, observed, expected, CAPABILITY)


def judge_perfquery(facts: IbFacts) -> Iterator[Check]:
    """One look at the counters, from a bundle: its values are told, only a full one is a fault."""
    if facts.perfquery_unknown:
        yield unknown("ib.port.saturated", "perfquery", facts.perfquery_unknown)
    yield from fold((_block(block) for block in facts.perfquery), "ports")


def _block(block: Block) -> Check:
    name = f"{block.target} port {block.port}".strip()
    numbers = block.numbers()
    if block.is_port:
        values = {shown: numbers[shown] for shown in numbers if shown in QUERIED}
    else:  # the details of one kind of error: all of it counts
        values = {shown: numbers[shown] for shown in numbers if shown != "PortSelect"}
    if not values:
        return skipped("ib.port.saturated", name, f"{block.kind} counters: no error counters")
    bits = {shown: QUERIED[shown].bits if shown in QUERIED else 16 for shown in values}
    if block.extended:  # these have 64 bits, so only their own highest value is one
        bits = dict.fromkeys(values, 64)
    return _saturated(name, values, bits)
