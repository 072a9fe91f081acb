# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom: outcomes of all pings in, checks per host and rail out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._ping_faults import (
    Fault,
    Leaves,
    Tried,
    find,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._ping_words import (
    cause,
    remedy,
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


@dataclass(frozen=True)
class Mesh:
    """Which pairs there were to test. ``sampled``: "" where all, else what the sample was.

    ``others``: how many others took part. ``again``: pings of the second pass. ``leaves``:
    (host, rail) -> GUID of the leaf switch. ``missing``: host -> rail -> why it took no part.
    """

    sampled: str = ""
    others: int = 0
    again: Sequence[Ping] = ()
    leaves: Leaves = field(default_factory=dict)
    missing: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


_ALL = Mesh()


def judge(
    rails: Mapping[str, Sequence[str]], pings: Iterable[Ping], size: int, mesh: Mesh = _ALL
) -> dict[str, list[Check]]:
    """Checks per host. ``rails``: host -> port names; hosts with no rail get no ping check.

    ``size`` is how many hosts the inventory has: only a host that is alone has no one to reach.

    A bad pair is laid at the door of the host, port, leaf switch or way that explains most (see
    _ping_faults), so one sick link is named once and not at every host that talked to it. Where
    two hosts are equally likely, both are named.
    """
    of: dict[tuple[str, str], list[Ping]] = {}
    everything = list(pings)
    for ping in everything:
        of.setdefault((ping.client, ping.rail), []).append(ping)
        of.setdefault((ping.server, ping.rail), []).append(ping)
    blamed: dict[str, dict[str, Fault]] = {}
    for fault in faults([*everything, *mesh.again], mesh.leaves):
        for rail in fault.rails:
            blamed.setdefault(rail, {}).update({host: fault for host in fault.hosts})
    checks: dict[str, list[Check]] = {}
    for host, names in rails.items():
        checks[host] = [
            check
            for rail in sorted(set(names))
            for check in _host(
                host, rail, of.get((host, rail), []), blamed.get(rail, {}), size, mesh
            )
        ]
    return checks


def faults(pings: Iterable[Ping], leaves: Leaves) -> list[Fault]:
    """Where the fault is, of all pairs that were tested."""
    return find(
        (Tried(one.client, one.server, one.rail, one.lost) for one in pings if not one.untested),
        leaves,
    )


def _host(
    host: str, rail: str, mine: list[Ping], blamed: Mapping[str, Fault], size: int, mesh: Mesh
) -> tuple[Check, ...]:
    if size == 1:
        why = "one host: there is no other to reach"
        return tuple(skipped(f"fabric.ping.{name}", rail, why) for name in _NAMES)
    tested = [ping for ping in mine if not ping.untested]
    why = _why_untested(host, mine) or mesh.missing.get(host, {}).get(rail) or _NOBODY
    return (
        _tested(host, rail, mine, tested, why, mesh),
        _reachable(host, rail, tested, blamed) or _untold("fabric.ping.reachable", rail, why),
        _loss(host, rail, tested, blamed) or _untold("fabric.ping.loss", rail, why),
    )


_NAMES = ("tested", "reachable", "loss")


def _tested(
    host: str, rail: str, mine: list[Ping], tested: list[Ping], why: str, mesh: Mesh
) -> Check:
    observed = f"{len(tested)} of {len(mine)} pairs"
    expected = f"{len(mine)} pairs"
    if mesh.sampled:
        partners = len({one.server if one.client == host else one.client for one in tested})
        observed = f"sampled: {partners:,} of {mesh.others:,} other hosts, {observed}"
        expected += f" of {mesh.sampled}"
    if not tested or any(ping.untested and ping.culprit == host for ping in mine):
        return unknown("fabric.ping.tested", rail, why, observed=observed, remedy=_UNTESTED)
    absent = sorted({ping.culprit for ping in mine if ping.untested})
    if absent:
        observed += f"; not with {named(absent)}"
    return passed("fabric.ping.tested", rail, observed, expected, CAPABILITY)


_NOBODY = "no other host took part (was there a --limit?)"


def _why_untested(host: str, mine: list[Ping]) -> str:
    """The host's own reason where it has one, else its peers'; "" where there is none."""
    own = [ping.untested for ping in mine if ping.untested and ping.culprit == host]
    if own:
        return own[0]
    return "; ".join(sorted({f"{ping.culprit}: {ping.untested}" for ping in mine if ping.untested}))


def _untold(check_id: str, rail: str, why: str) -> Check:
    return unknown(check_id, rail, why, remedy=_UNTESTED)


def _reachable(
    host: str, rail: str, tested: list[Ping], blamed: Mapping[str, Fault]
) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    dead = [ping for ping in tested if ping.dead]
    if dead and host in blamed:
        observed = f"no answer in {len(dead)} of {len(tested)} pairs ({_peers(host, dead)})"
        return _failed("fabric.ping.reachable", host, rail, observed, "an answer", blamed[host])
    observed = f"{len(tested) - len(dead)} of {len(tested)} pairs answered"
    return passed(
        "fabric.ping.reachable",
        rail,
        observed + _excuse(host, dead, blamed),
        "an answer",
        CAPABILITY,
    )


def _loss(host: str, rail: str, tested: list[Ping], blamed: Mapping[str, Fault]) -> Check | None:
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
        return _failed("fabric.ping.loss", host, rail, observed, "0 %", blamed[host])
    alive = [ping for ping in tested if not ping.dead]
    if not alive:
        return unknown("fabric.ping.loss", rail, "no pair answered")
    return passed("fabric.ping.loss", rail, "0 %" + _excuse(host, lossy, blamed), "0 %", CAPABILITY)


def _failed(
    check_id: str, host: str, rail: str, observed: str, expected: str, fault: Fault
) -> Check:
    why, next_step = cause(fault, host), remedy(fault)
    return failed(check_id, rail, observed, expected, CAPABILITY, cause=why, remedy=next_step)


def _peers(host: str, pings: list[Ping]) -> str:
    names = sorted({p.server if p.client == host else p.client for p in pings})
    return named(names)


def _excuse(host: str, bad: list[Ping], blamed: Mapping[str, Fault]) -> str:
    peers = {peer for ping in bad for peer in (ping.client, ping.server)}
    others = sorted(peers & blamed.keys() - {host})
    return f", apart from pairs with {named(others)} (named there)" if others else ""


def named(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


# Names in one sentence.
_SHOWN = 8
