# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge error counters: how fast they rise, and whether they can rise any more."""

from __future__ import annotations

from typing import Iterator

from ..._data.ib_counters import COUNTERS, LINK_DOWNED
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._parse.perfquery import Block
from ..._rails.ib import Pair
from ..._rails.ib_ports import IbFacts, port_name
from .fold import fold

_CHECKS = ("ib.port.errors", "ib.port.flaps", "ib.port.saturated")
_QUERIED = {name: counter for counter in COUNTERS for name in counter.names}
_BY_NAME = {counter.name: counter for counter in COUNTERS}
_DAY = 86400
_GONE = "{} was there at the first look and not at the second"
# What 64-bit and 32-bit counters stop at.
_FULL = (2**64 - 1, 2**32 - 1)


def judge_counters(facts: IbFacts, ports: list[Pair]) -> Iterator[Check]:
    """The error counters of these ports."""
    checks: list[Check] = []
    for ca, port in ports:
        checks += _port(facts, port_name(ca, port))
    yield from fold(checks, "ports")


def _port(facts: IbFacts, name: str) -> Iterator[Check]:
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
    yield look("ib.port.errors", name, detail.later, lambda later: _errors(name, first, later.values, later.seconds))
    yield look(
        "ib.port.flaps",
        name,
        detail.later,
        lambda later: _flaps(facts, name, first, later.values, later.seconds),
    )
    yield _saturated(name, first, {key: _BY_NAME[key].bits for key in first})


def _errors(name: str, first: dict[str, int], later: dict[str, int], seconds: float) -> Check:
    expected = "no error counter rises"
    risen, worst = [], ""
    for counter in COUNTERS:
        before, after = first.get(counter.name), later.get(counter.name)
        if counter.name == LINK_DOWNED or before is None:
            continue
        if after is None:
            return unknown("ib.port.errors", name, _GONE.format(counter.name))
        if after < before:
            why = f"{counter.name} went from {before} to {after}: somebody cleared the counters"
            return unknown("ib.port.errors", name, why, remedy="verify again")
        rise = after - before
        if rise >= counter.at_least and rise * 3600 > counter.per_hour * max(seconds, 0.001):
            risen.append(f"{counter.name} +{rise}")
            worst = worst or f"{counter.name}: {counter.means}"
    shown = f"in {seconds:.1f} s"
    if risen:
        return failed("ib.port.errors", name, f"{', '.join(risen)} {shown}", expected, CAPABILITY, cause=worst)
    return passed("ib.port.errors", name, f"no rise {shown}", expected, CAPABILITY)


def _flaps(facts: IbFacts, name: str, first: dict[str, int], later: dict[str, int], seconds: float) -> Check:
    before, after = first.get(LINK_DOWNED), later.get(LINK_DOWNED)
    if before is None:
        return skipped("ib.port.flaps", name, f"the driver shows no {LINK_DOWNED} of this port")
    if after is None:
        return unknown("ib.port.flaps", name, _GONE.format(LINK_DOWNED))
    expected = f"{LINK_DOWNED} does not rise"
    if after < before:
        why = f"{LINK_DOWNED} went from {before} to {after}: somebody cleared the counters"
        return unknown("ib.port.flaps", name, why, remedy="verify again")
    if after > before:
        observed = f"{LINK_DOWNED} {before} to {after} in {seconds:.1f} s"
        return failed("ib.port.flaps", name, observed, expected, CAPABILITY)
    days = facts.uptime_s / _DAY
    since = f", the host is up for {days:.1f} days" if facts.uptime_s and after else ""
    return passed("ib.port.flaps", name, f"{after} so far{since}", expected, CAPABILITY)


def _saturated(name: str, values: dict[str, int], bits: dict[str, int]) -> Check:
    """Whether a counter stands at the highest value it can show."""
    full = [
        f"{shown} {value}"
        for shown, value in values.items()
        if value in _FULL or (bits[shown] and value == 2 ** bits[shown] - 1)
    ]
    expected = "below the highest value"
    if full:
        return failed("ib.port.saturated", name, ", ".join(full), expected, CAPABILITY)
    high = [f"{shown} {value}" for shown, value in values.items() if value]
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
        values = {shown: numbers[shown] for shown in numbers if shown in _QUERIED}
    else:  # the details of one kind of error: all of it counts
        values = {shown: numbers[shown] for shown in numbers if shown != "PortSelect"}
    if not values:
        return skipped("ib.port.saturated", name, f"{block.kind} counters: no error counters")
    bits = {shown: _QUERIED[shown].bits if shown in _QUERIED else 16 for shown in values}
    if block.extended:  # these have 64 bits, so only their own highest value is one
        bits = dict.fromkeys(values, 64)
    return _saturated(name, values, bits)
