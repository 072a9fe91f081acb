# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whose clock is off: what each visit of the controller tells of it in, checks out, no I/O.

A visit bounds a host's clock: it was read after the controller asked and before it had the answer.
Hosts whose bounds overlap may have the same time; how well that is known is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from .._data.fleet_clocks import DRIFT, VAGUE_S
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.equals import NO_MAJORITY
from .fleet_same import ASK_OTHERS, MIN_FLEET, NO_OTHER, ONE_HOST

_SKEW = "fleet.time.skew"
_CLOCK = "clock"
_STEPPED = "the clock was set while it was looked at"


@dataclass(frozen=True)
class Visit:
    """One visit. ``asked`` and ``answered``: seconds of a clock of the controller that nobody sets;
    ``began`` and ``ended``: seconds of the host's own clock between the two."""

    asked: float
    answered: float
    began: float
    ended: float

    @property
    def bounds(self) -> tuple[float, float]:
        """How far the host's clock is before the controller's, at least and at most, in seconds.

        The wrong way round where the host's clock was set during the visit.
        """
        return self.ended - self.answered, self.began - self.asked


def judge(visits: Mapping[str, Visit | None], size: int, recorded: Mapping[str, str]) -> dict[str, list[Check]]:
    """Checks per host; None: the host was visited, and did not tell its clock. ``size``: hosts of
    the inventory. ``recorded``: why there is no visit of a host that is judged by its bundle."""
    checks: dict[str, list[Check]] = {host: [skipped(_SKEW, _CLOCK, why)] for host, why in recorded.items()}
    live = {host: visit for host, visit in visits.items() if host not in recorded}
    reported = {host: entry for host, entry in live.items() if entry is not None}
    if size == 1:
        return {**checks, **{host: [skipped(_SKEW, _CLOCK, ONE_HOST)] for host in live}}
    known = _bounds(reported)
    agree = _most(known)
    for host in live:
        checks[host] = [_host(host, host in reported, known, agree)]
    return checks


def _bounds(visits: Mapping[str, Visit]) -> dict[str, tuple[float, float]]:
    """The bounds of all that can be used, wide enough for how clocks drift between the visits."""
    times = sorted(visit.answered for visit in visits.values())
    middle = times[len(times) // 2] if times else 0.0
    found = {}
    for host, visit in visits.items():
        low, high = visit.bounds
        drift = DRIFT * abs(visit.answered - middle)
        if low <= high < low + VAGUE_S:
            found[host] = (low - drift, high + drift)
    return found


def _most(bounds: Mapping[str, tuple[float, float]]) -> tuple[float, float, int]:
    """Where most bounds overlap, and how many do (Marzullo's algorithm)."""
    # At one instant bounds begin before others end: those that touch overlap.
    edges = sorted((at, end) for low, high in bounds.values() for at, end in ((low, 0), (high, 1)))
    best = (0.0, 0.0, 0)
    inside = 0
    for number, (at, end) in enumerate(edges):
        inside += -1 if end else 1
        if inside > best[2]:
            # Nothing has ended since: the next edge closes what they share.
            best = (at, edges[number + 1][0], inside)
    return best


def _host(host: str, told: bool, bounds: Mapping[str, tuple[float, float]], agree: tuple[float, float, int]) -> Check:
    if not told:
        return unknown(_SKEW, _CLOCK, "the host did not tell its clock")
    mine = bounds.get(host)
    if mine is None:
        return unknown(_SKEW, _CLOCK, f"{_STEPPED}, or the visit took longer than {VAGUE_S:g} s")
    if len(bounds) == 1:
        return unknown(_SKEW, _CLOCK, NO_OTHER, remedy=ASK_OTHERS)
    low, high, times = agree
    source = f"fleet {times}/{len(bounds)}"
    expected = "the time of the others"
    split = times < len(bounds) and (len(bounds) < MIN_FLEET or 2 * times <= len(bounds))
    if split:
        return unknown(_SKEW, _CLOCK, f"{NO_MAJORITY}at most {times} of {len(bounds)} hosts may have the same time")
    if mine[0] > high:
        return failed(_SKEW, _CLOCK, f"at least {_s(mine[0] - high)} ahead", expected, source)
    if mine[1] < low:
        return failed(_SKEW, _CLOCK, f"at least {_s(low - mine[1])} behind", expected, source)
    unsure = max(mine[1] - low, high - mine[0])
    return passed(_SKEW, _CLOCK, f"no more than {_s(unsure)} apart", expected, source)


def _s(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"
