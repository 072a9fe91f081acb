# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whose round trips stand out: outcomes of all pings in, checks per host out, no I/O."""

from __future__ import annotations

from statistics import median
from typing import Iterable, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks._blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.ping import Ping
from ansible_collections.ibready.cluster.plugins.module_utils._data.fleet_pings import (
    ABOVE_MS,
    FACTOR,
    PAIRS,
)

_RTT = "fleet.ping.rtt"
_ASK_MORE = "judge more hosts together, and mend what kept pairs from being tested"


def judge(
    rails: Mapping[str, Sequence[str]], pings: Iterable[Ping], size: int
) -> dict[str, list[Check]]:
    """Checks per host. ``rails``: host -> port names; ``size``: hosts of the inventory.

    A slow pair is laid at the door of the host that takes part in most slow pairs of that rail.
    All rails are held against the same: one that is slow on every host stands out from the others.
    Of rails without a tested pair fabric.ping.tested tells.
    """
    tested = [ping for ping in pings if not ping.untested]
    told = [ping for ping in tested if ping.rtt_avg is not None]
    usual = _usual(told) if len(told) >= PAIRS else None
    fast = sum(usual is not None and not _slow(ping, usual) for ping in told)
    source = f"fleet {fast}/{len(told)}" if size > 1 else ""
    checks: dict[str, list[Check]] = {host: [] for host in rails}
    for rail in sorted({name for names in rails.values() for name in names}):
        mine = [ping for ping in tested if ping.rail == rail]
        late = [ping for ping in mine if usual is not None and _slow(ping, usual)]
        blamed = blame((ping.client, ping.server) for ping in late)
        of_host: dict[str, list[Ping]] = {}
        for ping in mine:
            of_host.setdefault(ping.client, []).append(ping)
            of_host.setdefault(ping.server, []).append(ping)
        for host, names in rails.items():
            if rail in names and (host in of_host or size == 1):
                own = [ping for ping in of_host.get(host, ()) if ping.rtt_avg is not None]
                checks[host].append(_host(rail, own, usual, source, host in blamed))
    return checks


def _usual(told: Sequence[Ping]) -> float:
    """What the quickest quarter stays below: of three hosts one slow one is in most pairs."""
    times = sorted(ping.rtt_avg or 0.0 for ping in told)
    return times[len(times) // 4]


def _slow(ping: Ping, usual: float) -> bool:
    average = ping.rtt_avg or 0.0
    return average > FACTOR * usual and average > usual + ABOVE_MS


def _host(rail: str, own: Sequence[Ping], usual: float | None, source: str, blamed: bool) -> Check:
    """``source`` is "" for a host that is alone in the inventory."""
    if not source:
        return skipped(_RTT, rail, "one host: there is no other to reach")
    if not own:
        return unknown(_RTT, rail, "no round trip was measured", remedy=_ASK_MORE)
    average = median(ping.rtt_avg or 0.0 for ping in own)
    observed = f"{average:.3g} ms"
    if usual is None:
        why = f"fewer than {PAIRS} pairs were measured: nothing to compare with"
        return unknown(_RTT, rail, why, observed=observed, remedy=_ASK_MORE)
    expected = f"at most {max(FACTOR * usual, usual + ABOVE_MS):.3g} ms"
    slow = [ping for ping in own if _slow(ping, usual)]
    # One late pair of many may be a busy host for a moment, at either end.
    if blamed and 2 * len(slow) >= len(own):
        worst = max(ping.rtt_avg or 0.0 for ping in slow)
        observed = f"{worst:.3g} ms in {len(slow)} of {len(own)} pairs"
        return failed(_RTT, rail, observed, expected, source)
    return passed(_RTT, rail, observed, expected, source)
