# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom and whose round trips stand out: outcomes of all pings in, checks per host out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Iterable, Mapping, Sequence

from .._areas.ib.check_port import STATE_FIRST
from .._data.fleet_pings import ABOVE_MS, FACTOR, PAIRS
from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.text import few
from .blame import blame
from .ping_faults import Fault, Leaves, Tried, cause, find, remedy

_UNTESTED = "mend what kept the pairs from being tested, then verify again"
# How plugin_utils/_hosts/hosts.py says it of a rail that is not Active.
_OWN_PORT = "the port is "
_RTT = "fleet.ping.rtt"
_ASK_MORE = "judge more hosts together, and mend what kept pairs from being tested"


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
    ping_faults), so one sick link is named once and not at every host that talked to it. Where
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
    asked_again: dict[tuple[str, str], list[Ping]] = {}
    for ping in mesh.again:
        asked_again.setdefault((ping.client, ping.rail), []).append(ping)
    checks: dict[str, list[Check]] = {}
    for host, names in rails.items():
        tested = [rail for rail in names if any(not entry.untested for entry in of.get((host, rail), ()))]
        sound = sum(host not in blamed.get(rail, {}) for rail in tested)
        checks[host] = []
        for rail in sorted(set(names)):
            mine, again = of.get((host, rail), []), asked_again.get((host, rail), [])
            port = _Port(host, rail, mine, again, blamed.get(rail, {}), sound)
            checks[host].extend(_judge(port, size, mesh))
    return checks


@dataclass(frozen=True)
class _Port:
    """One host on one rail. ``blamed``: hosts of the rail at whose door something is laid.

    ``sound``: rails of the host on which nothing is.
    """

    host: str
    rail: str
    pings: Sequence[Ping]
    again: Sequence[Ping]
    blamed: Mapping[str, Fault]
    sound: int

    @property
    def tested(self) -> list[Ping]:
        return [ping for ping in self.pings if not ping.untested]

    def peers(self, pings: Iterable[Ping]) -> list[str]:
        return sorted({ping.server if ping.client == self.host else ping.client for ping in pings})


def faults(pings: Iterable[Ping], leaves: Leaves) -> list[Fault]:
    """Where the fault is, of all pairs that were tested."""
    return find((Tried(ping.client, ping.server, ping.rail, ping.lost) for ping in pings if not ping.untested), leaves)


def _judge(port: _Port, size: int, mesh: Mesh) -> tuple[Check, ...]:
    if size == 1:
        why = "one host: there is no other to reach"
        return tuple(skipped(f"fabric.ping.{name}", port.rail, why) for name in _NAMES)
    tested = port.tested
    why = _why_untested(port) or mesh.missing.get(port.host, {}).get(port.rail) or _NOBODY
    return (
        _tested(port, tested, why, mesh),
        _reachable(port, tested) or _untold("fabric.ping.reachable", port.rail, why),
        _loss(port, tested) or _untold("fabric.ping.loss", port.rail, why),
    )


_NAMES = ("tested", "reachable", "loss")
_BAD_ALONE = "no pair proves it good"


def _tested(port: _Port, tested: list[Ping], why: str, mesh: Mesh) -> Check:
    planned = len(port.pings)
    observed, expected = f"{len(tested)} of {planned} pairs", f"{planned} pairs"
    if mesh.sampled:
        partners = len(port.peers(tested))
        observed = f"sampled: {partners:,} of {mesh.others:,} other hosts, {observed}"
        expected += f" of {mesh.sampled}"
    if not tested or any(ping.untested and ping.culprit == port.host for ping in port.pings):
        first = _first(why)
        return unknown("fabric.ping.tested", port.rail, why, observed=observed, remedy=first)
    absent = sorted({ping.culprit for ping in port.pings if ping.untested})
    if absent:
        observed += f"; not with {named(absent)}"
    return passed("fabric.ping.tested", port.rail, observed, expected, CAPABILITY)


_NOBODY = "no other host took part (was there a --limit?)"


def _why_untested(port: _Port) -> str:
    """The host's own reason where it has one, else its peers'; "" where there is none."""
    left = [ping for ping in port.pings if ping.untested]
    own = [ping.untested for ping in left if ping.culprit == port.host]
    return own[0] if own else "; ".join(sorted({f"{rest.culprit}: {rest.untested}" for rest in left}))


def _untold(check_id: str, rail: str, why: str) -> Check:
    return unknown(check_id, rail, why, remedy=_first(why))


def _first(why: str) -> str:
    """What is to be mended first; the host's own port tells of itself what is wrong with it."""
    return STATE_FIRST if why.startswith(_OWN_PORT) else _UNTESTED


def _reachable(port: _Port, tested: list[Ping]) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    dead = [ping for ping in tested if ping.dead]
    if dead and port.host in port.blamed:
        observed = f"no answer in {len(dead)} of {len(tested)} pairs ({named(port.peers(dead))})"
        return _failed("fabric.ping.reachable", port, observed, "an answer")
    if len(dead) == len(tested):
        return _untold("fabric.ping.reachable", port.rail, _BAD_ALONE + _excuse(port, dead))
    observed = f"{len(tested) - len(dead)} of {len(tested)} pairs answered{_excuse(port, dead)}"
    return passed("fabric.ping.reachable", port.rail, observed, "an answer", CAPABILITY)


def _loss(port: _Port, tested: list[Ping]) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    lossy = [ping for ping in tested if ping.lost and not ping.dead]
    if lossy and port.host in port.blamed:
        sent, received = sum(p.sent for p in lossy), sum(p.received for p in lossy)
        observed = (
            f"{100 * (sent - received) / sent:.0f} % lost in {len(lossy)} of {len(tested)} "
            f"pairs ({named(port.peers(lossy))})"
        )
        return _failed("fabric.ping.loss", port, observed, "0 %")
    if all(ping.dead for ping in tested):
        return unknown("fabric.ping.loss", port.rail, "no pair answered")
    if all(ping.lost for ping in tested):
        return _untold("fabric.ping.loss", port.rail, _BAD_ALONE + _excuse(port, lossy))
    return passed("fabric.ping.loss", port.rail, "0 %" + _excuse(port, lossy), "0 %", CAPABILITY)


def _failed(check_id: str, port: _Port, observed: str, expected: str) -> Check:
    fault = port.blamed[port.host]
    again = [ping for ping in port.again if not ping.untested]
    if again:
        lost = sum(ping.lost for ping in again)
        observed += f"; asked again, {lost} of {len(again)} known-good partners"
    why = cause(fault, port.host, port.sound)
    return failed(check_id, port.rail, observed, expected, CAPABILITY, cause=why, remedy=remedy(fault))


def _excuse(port: _Port, bad: list[Ping]) -> str:
    peers = {peer for ping in bad for peer in (ping.client, ping.server)}
    others = sorted(peers & port.blamed.keys() - {port.host})
    return f", apart from pairs with {named(others)} (named there)" if others else ""


def named(names: Sequence[str]) -> str:
    """The first of many names, and how many more there are."""
    return few(names, _SHOWN)


# Names in one sentence.
_SHOWN = 8


def judge_times(rails: Mapping[str, Sequence[str]], pings: Iterable[Ping], size: int) -> dict[str, list[Check]]:
    """Checks per host. ``rails``: host -> port names; ``size``: hosts of the inventory.

    A slow pair is laid at the door of the host that takes part in most slow pairs of that rail.
    All rails are held against the same: one that is slow on every host stands out from the others.
    Of rails without a tested pair fabric.ping.tested tells.
    """
    tested = [ping for ping in pings if not ping.untested]
    reported = [ping for ping in tested if ping.rtt_avg is not None]
    usual = _usual(reported) if len(reported) >= PAIRS else None
    fast = sum(usual is not None and not _slow(ping, usual) for ping in reported)
    source = f"fleet {fast}/{len(reported)}" if size > 1 else ""
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
