# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether one RoCE rail loses packets or is held back now: facts in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator, Mapping

from ..._data.roce_counters import CONGESTION, COUNTERS, ETHTOOL, LOSS, PRIORITY, Counter
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._rails.roce import ACTIVE
from ..._rails.roce_ports import RocePort

_CHECKS = {LOSS: "roce.port.loss", CONGESTION: "roce.port.congestion"}
_EXPECTED = {LOSS: "no counter of loss rises", CONGESTION: "no counter of congestion rises fast"}
_SHOWN = 4


def judge(port: RocePort, simulated: str) -> Iterator[Check]:
    """roce.port.loss and roce.port.congestion; ``simulated``: what of this host is, ""."""
    for harm, check_id in _CHECKS.items():
        counted = port.counters
        if not port.state:
            yield unknown(check_id, port.name, "the kernel told no state")
        elif port.state != ACTIVE:
            yield skipped(check_id, port.name, "the port carries nothing: see roce.port.state")
        elif counted.first.value is None and counted.first.missing:
            why = f"simulated node: {simulated}" if simulated else counted.first.why
            yield skipped(check_id, port.name, why)
        elif counted.first.value is None or counted.later.value is None:
            why = counted.first.why or counted.later.why or "nobody looked at its counters"
            yield unknown(check_id, port.name, why)
        else:
            yield _judged(check_id, harm, port, counted.first.value, counted.later.value)


def _judged(check_id: str, harm: str, port: RocePort, before: Mapping[str, int], after: Mapping[str, int]) -> Check:
    seconds = max(port.counters.seconds, 0.001)
    risen: list[tuple[float, str, Counter]] = []
    named = list(_named(harm, port, before))
    if not named:
        return skipped(check_id, port.name, "the port shows no counter of it")
    for counter, key in named:
        if key not in after:
            return unknown(check_id, port.name, f"{key} was there at the first look and not at the second")
        rise = after[key] - before[key]
        if rise < 0:
            why = f"{key} went from {before[key]} to {after[key]}: somebody cleared the counters"
            return unknown(check_id, port.name, why, remedy="verify again")
        if rise >= counter.at_least and rise > counter.per_s * seconds:
            over = rise / max(counter.per_s * seconds, float(counter.at_least))
            risen.append((over, f"{key} +{rise}", counter))
    shown = f"in {seconds:.1f} s"
    if not risen:
        by_ethtool = any(key.startswith(f"{ETHTOOL} ") for _counter, key in named)
        blind = "" if by_ethtool else f"; {ETHTOOL} shows none of its own"
        return passed(check_id, port.name, f"no rise that counts {shown}{blind}", _EXPECTED[harm], CAPABILITY)
    risen.sort(key=lambda entry: -entry[0])
    told = ", ".join(text for _over, text, _counter in risen[:_SHOWN])
    more = f" and {len(risen) - _SHOWN} more" if len(risen) > _SHOWN else ""
    worst = risen[0][2]
    cause = f"{worst.name.replace(PRIORITY, 'N')}: {worst.means}"
    return failed(check_id, port.name, f"{told}{more} {shown}", _EXPECTED[harm], CAPABILITY, cause=cause)


def _named(harm: str, port: RocePort, values: Mapping[str, int]) -> Iterator[tuple[Counter, str]]:
    """The counters of this harm that the port has; of priorities, those that RoCE may run in."""
    lossless = port.qos.pfc.value or tuple(range(8))
    for counter in COUNTERS:
        if counter.harm != harm:
            continue
        numbers = lossless if PRIORITY in counter.name else (0,)
        for priority in numbers:
            name = counter.name.replace(PRIORITY, str(priority))
            key = f"{ETHTOOL} {name}" if counter.home == ETHTOOL else name
            if key in values:
                yield counter, key
