# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the errors that GPUs, HCAs and the bridges above them reported since boot: no I/O."""

from __future__ import annotations

from typing import Callable, Iterator

from ..._data.pcie import BIT_ERROR_RATE, GENERATIONS, LAST_WITH_BIT_ERROR_RATE, LINK_ERRORS, SETTLED_S
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from .check_scope import NEITHER, Scope
from .facts import End, Errors, on_the_way

_NO_COUNTERS = "the kernel keeps no counters for it (AER)"
_NUMBERS = {generation.speed: generation.number for generation in GENERATIONS}


def judge_errors(scope: Scope) -> Iterator[Check]:
    yield from _uncorrectable(scope, "pci.aer.fatal", lambda errors: errors.fatal)
    yield from _uncorrectable(scope, "pci.aer.uncorrectable", lambda errors: errors.nonfatal)
    yield from _correctable(scope)


def _uncorrectable(scope: Scope, check_id: str, kind: Callable[[Errors], Reading[dict[str, int]]]) -> list[Check]:
    tally = Tally(check_id, "functions")
    for address in on_the_way((*scope.devices, *scope.switches)):
        entry = kind(scope.facts.errors.get(address, Errors()))
        if entry.missing:
            tally.left_out(address, _NO_COUNTERS)
            continue
        if entry.value is None:
            tally.unsure(address, entry.why or "nobody looked")
            continue
        counted = {name: count for name, count in entry.value.items() if count and not name.startswith("TOTAL")}
        # One message may tell of several errors, or of one that has no name.
        total = max(entry.value.values(), default=0)
        if total:
            word = check_id.rpartition(".")[2]
            seen = ", ".join(f"{name} {count}" for name, count in counted.items()) or str(total)
            tally.fail(address, seen, "none", CAPABILITY, cause=f"{scope.name(address)} reported {word} errors: {seen}")
        else:
            tally.good(address)
    return tally.checks("none since boot", CAPABILITY, nothing=NEITHER)


def _correctable(scope: Scope) -> list[Check]:
    tally = Tally("pci.aer.correctable", "functions")
    uptime = scope.facts.uptime_s
    for address in on_the_way(scope.devices):
        errors = scope.facts.errors.get(address, Errors())
        if uptime.value is None:
            tally.unsure("host", uptime.why or "nobody looked")
        elif uptime.value < SETTLED_S:
            tally.left_out(address, f"booted less than {SETTLED_S // 60} minutes ago")
        else:
            _rate(tally, address, errors, scope, uptime.value)
    return tally.checks("no more than the specification allows", CAPABILITY, nothing=NEITHER)


def _rate(tally: Tally, address: str, errors: Errors, scope: Scope, uptime_s: float) -> None:
    counted = errors.correctable.value
    if counted is None:
        if errors.correctable.missing:
            tally.left_out(address, _NO_COUNTERS)
        else:
            tally.unsure(address, errors.correctable.why or "nobody looked")
        return
    count = sum(counted.get(name, 0) for name in LINK_ERRORS)
    end = scope.facts.ends.get(address, End())
    speed, lanes = end.max_speed.value, end.max_width.value
    if not count:
        tally.good(address)
    elif speed is None or lanes is None:
        tally.unsure(address, end.max_speed.why or end.max_width.why or "nobody looked")
    elif _NUMBERS[speed] > LAST_WITH_BIT_ERROR_RATE:
        tally.left_out(address, "its link corrects errors itself")
    elif count <= (allowed := speed * 1e9 * lanes * BIT_ERROR_RATE * uptime_s):
        tally.good(address)
    else:
        seen = f"{count} in {uptime_s / 3600:.0f} h"
        worst = max((counted.get(name, 0), name) for name in LINK_ERRORS)[1]
        cause = f"{scope.name(address)} received damaged data {count} times, mostly {worst}"
        tally.fail(address, seen, f"at most {allowed:.0f}", CAPABILITY, cause=cause)
