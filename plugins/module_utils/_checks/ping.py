# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom: outcomes of all pings in, checks per host and rail out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from ansible_collections.ibready.cluster.plugins.module_utils._checks._blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY

_UNTESTED = "mend what kept the pairs from being tested, then verify again"


@dataclass(frozen=True)
class Ping:
    """One directed pair on one rail. Without ``sent`` it was not tested, ``untested`` says why.

    ``culprit`` is the host that kept an untested pair from being tested. Times in milliseconds.
    """

    client: str
    server: str
    rail: str
    sent: int = 0
    received: int = 0
    rtt_avg: float | None = None
    rtt_max: float | None = None
    untested: str = ""
    culprit: str = ""

    @property
    def lost(self) -> bool:
        return not self.untested and self.received < self.sent

    @property
    def dead(self) -> bool:
        return not self.untested and self.received == 0


def judge(rails: dict[str, list[str]], pings: Iterable[Ping], size: int) -> dict[str, list[Check]]:
    """Checks per host. ``rails``: host -> port names; hosts with no rail get no ping check.

    ``size`` is how many hosts the inventory has: only a host that is alone has no one to reach.

    A bad pair is laid at the door of the host that takes part in most bad pairs of that rail, so
    one sick link is named once and not at every host that talked to it. Where two hosts are
    equally likely, both are named.
    """
    everything = list(pings)
    checks: dict[str, list[Check]] = {host: [] for host in rails}
    for rail in sorted({name for names in rails.values() for name in names}):
        mine = [ping for ping in everything if ping.rail == rail]
        blamed = blame((ping.client, ping.server) for ping in mine if ping.lost)
        for host, names in rails.items():
            if rail in names:
                checks[host].extend(_host(host, rail, mine, blamed, size))
    return checks


def _host(
    host: str, rail: str, pings: list[Ping], blamed: set[str], size: int
) -> tuple[Check, ...]:
    if size == 1:
        why = "one host: there is no other to reach"
        return tuple(skipped(f"fabric.ping.{name}", rail, why) for name in _NAMES)
    mine = [ping for ping in pings if host in (ping.client, ping.server)]
    tested = [ping for ping in mine if not ping.untested]
    why = _why_untested(host, mine)
    return (
        _tested(host, rail, mine, tested),
        _reachable(host, rail, tested, blamed) or _untold("fabric.ping.reachable", rail, why),
        _loss(host, rail, tested, blamed) or _untold("fabric.ping.loss", rail, why),
    )


_NAMES = ("tested", "reachable", "loss")


def _tested(host: str, rail: str, mine: list[Ping], tested: list[Ping]) -> Check:
    observed = f"{len(tested)} of {len(mine)} pairs"
    if not tested or any(ping.untested and ping.culprit == host for ping in mine):
        why = _why_untested(host, mine)
        return unknown("fabric.ping.tested", rail, why, observed=observed, remedy=_UNTESTED)
    absent = sorted({ping.culprit for ping in mine if ping.untested})
    if absent:
        observed += f"; not with {', '.join(absent)}"
    return passed("fabric.ping.tested", rail, observed, f"{len(mine)} pairs", CAPABILITY)


def _why_untested(host: str, mine: list[Ping]) -> str:
    """The host's own reason where it has one, else its peers'."""
    own = [ping.untested for ping in mine if ping.untested and ping.culprit == host]
    if own:
        return own[0]
    others = sorted({f"{ping.culprit}: {ping.untested}" for ping in mine if ping.untested})
    return "; ".join(others) or "no other host took part (was there a --limit?)"


def _untold(check_id: str, rail: str, why: str) -> Check:
    return unknown(check_id, rail, why, remedy=_UNTESTED)


def _reachable(host: str, rail: str, tested: list[Ping], blamed: set[str]) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    dead = [ping for ping in tested if ping.dead]
    if dead and host in blamed:
        observed = f"no answer in {len(dead)} of {len(tested)} pairs ({_peers(host, dead)})"
        return failed("fabric.ping.reachable", rail, observed, "an answer", CAPABILITY)
    observed = f"{len(tested) - len(dead)} of {len(tested)} pairs answered"
    return passed(
        "fabric.ping.reachable",
        rail,
        observed + _excuse(host, dead, blamed),
        "an answer",
        CAPABILITY,
    )


def _loss(host: str, rail: str, tested: list[Ping], blamed: set[str]) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    lossy = [ping for ping in tested if ping.lost and not ping.dead]
    if lossy and host in blamed:
        sent, received = sum(p.sent for p in lossy), sum(p.received for p in lossy)
        observed = (
            f"{100 * (sent - received) / sent:.0f} % lost in {len(lossy)} of {len(tested)} "
            f"pairs ({_peers(host, lossy)})"
        )
        return failed("fabric.ping.loss", rail, observed, "0 %", CAPABILITY)
    alive = [ping for ping in tested if not ping.dead]
    if not alive:
        return unknown("fabric.ping.loss", rail, "no pair answered")
    return passed("fabric.ping.loss", rail, "0 %" + _excuse(host, lossy, blamed), "0 %", CAPABILITY)


def _peers(host: str, pings: list[Ping]) -> str:
    return ", ".join(sorted({p.server if p.client == host else p.client for p in pings}))


def _excuse(host: str, bad: list[Ping], blamed: set[str]) -> str:
    others = sorted({peer for ping in bad for peer in (ping.client, ping.server)} & blamed - {host})
    return f", apart from pairs with {', '.join(others)} (named there)" if others else ""
