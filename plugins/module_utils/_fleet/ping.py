# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who reached whom and whose round trips stand out: outcomes of all pings in, checks per host out, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import Collection, FrozenSet, Iterable, Mapping, Sequence, Tuple

from .._areas.ib.check_port import STATE_FIRST
from .._data.fabric_counters import PING_RETRIED_ABOVE_MS
from .._data.fleet_pings import ABOVE_MS, FACTOR, LATE_PINGS, LITTLE_LOSS, PAIRS
from .._expect.expectations import CAPABILITY
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.text import few
from .blame import blame, held
from .ping_faults import Fault, Leaves, Tried, cause, find, remedy

Edge = Tuple[FrozenSet[str], str]
_UNTESTED = "fix what kept the pairs from being tested, then verify again"
# How plugin_utils/_hosts/hosts.py says it of a rail that is not Active.
_OWN_PORT = "the port is "
_RTT = "fleet.ping.rtt"
_LATEST = "fleet.ping.longest"
_ASK_MORE = "judge more hosts together, and fix what kept pairs from being tested"


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

    @property
    def lost_little(self) -> bool:
        """Whether the second pass may show that the loss was nothing but a busy moment."""
        return self.lost and self.sent - self.received <= LITTLE_LOSS * self.sent

    @property
    def edge(self) -> tuple[frozenset[str], str]:
        """The two hosts, whoever asked, and the rail."""
        return frozenset((self.client, self.server)), self.rail


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
    two hosts are equally likely, both are named. A little that was lost between two hosts, and
    not when the same two were asked again, is told and counts for nothing.
    """
    pings = list(pings)
    gone = _gone(pings, mesh.again)
    of: dict[tuple[str, str], list[Ping]] = {}
    for ping in pings:
        of.setdefault((ping.client, ping.rail), []).append(ping)
        of.setdefault((ping.server, ping.rail), []).append(ping)
    blamed: dict[str, dict[str, Fault]] = {}
    counted = [ping for ping in pings if not (ping.lost and ping.edge in gone)]
    # What was excused proves its two ends good.
    excused = [replace(ping, received=ping.sent) for ping in pings if ping.lost and ping.edge in gone]
    for fault in faults([*counted, *excused, *mesh.again], mesh.leaves):
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
            port = _Port(host, rail, mine, again, blamed.get(rail, {}), sound, gone)
            checks[host].extend(_judge(port, size, mesh))
    return checks


def _gone(pings: Sequence[Ping], again: Sequence[Ping]) -> set[Edge]:
    """Pairs that lost a little, were asked again, and lost nothing then."""
    asked: dict[Edge, bool] = {}
    for ping in again:
        if not ping.untested:
            asked[ping.edge] = asked.get(ping.edge, False) or ping.lost
    much = {ping.edge for ping in pings if ping.lost and not ping.lost_little}
    return {ping.edge for ping in pings if ping.lost and ping.edge not in much and asked.get(ping.edge) is False}


@dataclass(frozen=True)
class _Port:
    """One host on one rail. ``blamed``: hosts of the rail at whose door something is laid.

    ``sound``: rails of the host on which nothing is. ``gone``: pairs that lost a little only once.
    """

    host: str
    rail: str
    pings: Sequence[Ping]
    again: Sequence[Ping]
    blamed: Mapping[str, Fault]
    sound: int
    gone: Collection[Edge] = ()

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
        return _failed("fabric.ping.reachable", port, observed, "an answer", dead)
    if len(dead) == len(tested):
        return _untold("fabric.ping.reachable", port.rail, _BAD_ALONE + _excuse(port, dead))
    observed = f"{len(tested) - len(dead)} of {len(tested)} pairs answered{_excuse(port, dead)}"
    return passed("fabric.ping.reachable", port.rail, observed, "an answer", CAPABILITY)


def _loss(port: _Port, tested: list[Ping]) -> Check | None:
    """None where no pair was tested."""
    if not tested:
        return None
    once = [ping for ping in tested if ping.lost and ping.edge in port.gone]
    lossy = [ping for ping in tested if ping.lost and not ping.dead and ping not in once]
    if lossy and port.host in port.blamed:
        sent, received = sum(p.sent for p in lossy), sum(p.received for p in lossy)
        observed = (
            f"{100 * (sent - received) / sent:.0f} % lost in {len(lossy)} of {len(tested)} "
            f"pairs ({named(port.peers(lossy))})"
        )
        return _failed("fabric.ping.loss", port, observed, "0 %", lossy)
    if all(ping.dead for ping in tested):
        return unknown("fabric.ping.loss", port.rail, "no pair answered")
    if all(ping.lost and ping not in once for ping in tested):
        return _untold("fabric.ping.loss", port.rail, _BAD_ALONE + _excuse(port, lossy))
    observed = "0 %" + _excuse(port, lossy)
    if once:
        sent, received = sum(ping.sent for ping in once), sum(ping.received for ping in once)
        observed += f"; {sent - received} of {sent} lost at first with {named(port.peers(once))}, none when asked again"
    return passed("fabric.ping.loss", port.rail, observed, "0 %", CAPABILITY)


def _failed(check_id: str, port: _Port, observed: str, expected: str, bad: Sequence[Ping]) -> Check:
    fault = port.blamed[port.host]
    first = {ping.edge for ping in port.pings if ping.lost_little}
    again = [ping for ping in port.again if not ping.untested and ping.edge not in first]
    if again:
        lost = sum(ping.lost for ping in again)
        observed += f"; asked again, {lost} of {len(again)} known-good partners"
    why = cause(fault, port.host, port.sound)
    check = failed(check_id, port.rail, observed, expected, CAPABILITY, cause=why, remedy=remedy(fault))
    # Who asks tells; an answer proves both ends.
    return held(check, port.host, (ping.client for ping in bad), (ping.client for ping in port.tested if not ping.lost))


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
        resent = blame((ping.client, ping.server) for ping in mine if (ping.rtt_max or 0.0) > PING_RETRIED_ABOVE_MS)
        of_host: dict[str, list[Ping]] = {}
        for ping in mine:
            of_host.setdefault(ping.client, []).append(ping)
            of_host.setdefault(ping.server, []).append(ping)
        for host, names in rails.items():
            if rail in names and (host in of_host or size == 1):
                own = [ping for ping in of_host.get(host, ()) if ping.rtt_avg is not None]
                slow = [ping for ping in own if usual is not None and _slow(ping, usual)]
                told = _host(rail, own, usual, source, host in blamed)
                quick = (ping.client for ping in own if ping not in slow)
                checks[host].append(held(told, host, (ping.client for ping in slow), quick))
                checks[host].append(_longest(host, rail, of_host.get(host, ()), size, host in resent))
    return checks


def _longest(host: str, rail: str, own: Sequence[Ping], size: int, blamed: bool) -> Check:
    """The latest answer: what was lost and sent again shows in no loss and hardly in a mean."""
    timed = [ping for ping in own if ping.rtt_max is not None]
    if size == 1:
        return skipped(_LATEST, rail, "one host: there is no other to reach")
    if not timed:
        return unknown(_LATEST, rail, "no round trip was measured", remedy=_ASK_MORE)
    worst = max(timed, key=lambda ping: ping.rtt_max or 0.0)
    late = [ping for ping in timed if (ping.rtt_max or 0.0) > PING_RETRIED_ABOVE_MS]
    other = worst.server if worst.client == host else worst.client
    observed = f"{worst.rtt_max:.3g} ms with {other}"
    expected = f"at most {PING_RETRIED_ABOVE_MS:g} ms"
    if len(late) >= LATE_PINGS and blamed:
        observed += f", late in {len(late)} of {len(timed)} pairs"
        return failed(_LATEST, rail, observed, expected, CAPABILITY)
    if late:
        observed += " once; a sick way is late again and again"
    return passed(_LATEST, rail, observed, expected, CAPABILITY)


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
