# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a port's link went down, and when, by each source that tells; no I/O.

The kernel's log has times, counters have none, and the health agent remembers counters with times,
over boots as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence, Tuple

from .._data.ib_counters import LINK_DOWNED
from .._data.link_history import BOOT_DOWNS, BOOT_S, DAY_S, DOWNS_AN_HOUR, HISTORY_S, HOUR_S
from .._parse.link_events import LinkEvent

LOG = "the kernel's log"
MEMORY = "the health agent's memory"
MEMORY_SCHEMA = "ibready/ports/1"
# How many seconds ago, and how many link-downs then.
_When = Tuple[float, int]


@dataclass(frozen=True)
class Downs:
    """Link-downs by one source: ``total`` within the last ``over_s`` seconds (0: nobody knows).

    ``timed``: whether it knows when; then ``hour`` and ``day`` are those of the last hour and day,
    ``worst`` the most within any one day of the last 30, and ``last_s`` how long ago the last was.
    """

    source: str
    total: int
    over_s: float
    timed: bool = False
    hour: int = 0
    day: int = 0
    worst: int = 0
    last_s: float = 0.0


@dataclass(frozen=True)
class Sample:
    """A port's counters as the agent once saw them; one that is not there was 0.

    ``at``: seconds since 1970, ``up_s`` since that boot.
    """

    at: float
    boot: str
    up_s: float
    values: Mapping[str, int]


def of_counter(source: str, value: int, up_s: float) -> Downs:
    """A counter that began with the boot, at the latest; what a boot brings is left out."""
    return Downs(source, max(0, value - BOOT_DOWNS), up_s)


def of_log(events: Iterable[LinkEvent], up_s: float) -> Downs | None:
    """The events of one port; None where there are none. Those of two kinds may be of one and the same."""
    kinds: dict[str, list[LinkEvent]] = {}
    for event in events:
        kinds.setdefault(event.kind, []).append(event)
    found = [_of_kind(mine, up_s) for mine in kinds.values()]
    # Whichever kind tells most of an hour is not the kind that tells most of a day.
    return max(
        found, key=lambda downs: (downs.hour >= DOWNS_AN_HOUR, downs.day, downs.worst, downs.total), default=None
    )


def _of_kind(events: Sequence[LinkEvent], up_s: float) -> Downs:
    mine = events[1:] if events and events[0].up else events
    times = [event.seconds for event in mine if event.seconds is not None]
    if len(times) < len(mine):
        return Downs(LOG, max(0, len(mine) - BOOT_DOWNS), up_s)
    early = [at for at in times if at < BOOT_S][BOOT_DOWNS:]
    counted = sorted([*early, *(at for at in times if at >= BOOT_S)])
    now = max([up_s, *counted])
    return _timed(LOG, [(now - at, 1) for at in counted], now)


def of_memory(
    samples: Sequence[Sample], boot: str, up_s: float, values: Mapping[str, int], name: str = LINK_DOWNED
) -> Downs | None:
    """What the agent's samples of one port and this look tell together; None without a sample."""
    known = sorted(samples, key=lambda one: one.at)
    if not known or name not in values:
        return None
    ages = _ages(known, boot, up_s)
    found: list[_When] = []
    ends = [*known[1:], Sample(0.0, boot, up_s, values)]
    for before, after, began, age in zip(known, ends, ages, [*ages[1:], 0.0]):
        rise = after.values.get(name, 0) - before.values.get(name, 0)
        rise = after.values.get(name, 0) if rise < 0 else rise
        if before.boot != after.boot:
            rise = max(0, rise - BOOT_DOWNS)
        found += _spread(rise, age, began)
    return _timed(MEMORY, found, ages[0])


def _spread(rise: int, ended: float, began: float) -> list[_When]:
    """A rise between two looks, of which nobody knows when it was: in the middle of them, and of looks
    that lie more than a day apart as much on each day."""
    days = max(1, math.ceil((began - ended) / DAY_S))
    shares = [rise * (day + 1) // days - rise * day // days for day in range(days)]
    width = (began - ended) / days
    return [(ended + width * (day + 0.5), share) for day, share in enumerate(shares) if share]


def rise(samples: Sequence[Sample], boot: str, up_s: float, values: Mapping[str, int], name: str) -> tuple[int, float]:
    """By how much a counter rose since the oldest sample of this boot within a day, and in how many seconds.

    (0, 0) where there is none, and where somebody cleared the counter since.
    """
    mine = [one for one in samples if one.boot == boot and 0 < up_s - one.up_s <= DAY_S]
    if not mine or name not in values:
        return 0, 0.0
    first = min(mine, key=lambda one: one.up_s)
    path = [one.values.get(name, 0) for one in sorted(mine, key=lambda one: one.up_s)] + [values[name]]
    if any(later < earlier for earlier, later in zip(path, path[1:])):
        return 0, 0.0
    return path[-1] - path[0], up_s - first.up_s


def _ages(samples: Sequence[Sample], boot: str, up_s: float) -> list[float]:
    """How long ago each was: by the time since the boot, which no clock that was set can change."""
    anchor = next((sample for sample in samples if sample.boot == boot), None)
    if anchor is None:
        base, at = up_s, samples[-1].at
    else:
        base, at = up_s - anchor.up_s, anchor.at
    return [
        max(0.0, up_s - sample.up_s) if sample.boot == boot else max(base, base + at - sample.at) for sample in samples
    ]


def _timed(source: str, found: Sequence[_When], over_s: float) -> Downs:
    times = sorted((age, count) for age, count in found if age <= HISTORY_S)
    worst = within = first = 0
    for age, count in times:
        within += count
        while age - times[first][0] > DAY_S:
            within -= times[first][1]
            first += 1
        worst = max(worst, within)
    return Downs(
        source,
        sum(count for _age, count in found),
        over_s,
        True,
        sum(count for age, count in times if age <= HOUR_S),
        sum(count for age, count in times if age <= DAY_S),
        worst,
        times[0][0] if times else 0.0,
    )


def samples_of(raw: Any, port: str) -> tuple[Sample, ...]:
    """A port's samples of the agent's file; ValueError on what is none of its."""
    if not isinstance(raw, dict) or raw.get("schema") != MEMORY_SCHEMA or not isinstance(raw.get("samples"), list):
        raise ValueError(f"schema is not {MEMORY_SCHEMA}")
    found = []
    for one in raw["samples"]:
        try:
            values = one["ports"].get(port)
            if values is not None:
                counts = {str(name): int(value) for name, value in values.items()}
                found.append(Sample(float(one["at"]), str(one["boot"]), float(one["up_s"]), counts))
        except (KeyError, TypeError, AttributeError) as exc:
            raise ValueError(f"a sample cannot be read: {exc}") from None
    return tuple(found)
