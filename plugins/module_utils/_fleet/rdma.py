# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived over RDMA, and in packets of which size: all tests in, checks per host out, no I/O."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import Callable, Dict, Iterable, Mapping, NamedTuple, Sequence, Tuple

from .._between.rdma.tried import Host, Rail, Try
from .._data import bench
from .._data.rdma_tests import BANDWIDTH, CM, FAILED, HOST, LATENCY, TESTS, UNTESTED, VERBS, WHERE
from .._expect.expectations import CAPABILITY, INVENTORY
from .._ground.check import Check, failed, passed, skipped, unknown
from .._ground.link import INFINIBAND
from . import rdma_text
from .blame import blame, held

_AGAIN = "fix what kept the data from being moved, then verify again"
# Client, server, rail and place; then by test.
Key = Tuple[str, str, str, str]
ByPair = Dict[Key, Dict[str, Try]]
_MTU = "fabric.rdma.mtu"
_ALONE = "one host: there is no other to move data to"
_NO_ENGINE = "no engine"
_SHOWN = 4
_ARRIVES = "data that arrives as it was sent"
_SOFT = "software RDMA: its speed is not judged"


def _key(entry: Try) -> Key:
    """What the tests of one pair at one place have in common."""
    return (entry.client, entry.server, entry.rail, entry.where)


def _by_pair(tries: Iterable[Try]) -> ByPair:
    """The tests of each pair at each place, by test."""
    found: ByPair = {}
    for attempt in tries:
        found.setdefault(_key(attempt), {})[attempt.test] = attempt
    return found


def _by_host(tries: Iterable[Try]) -> dict[str, list[Try]]:
    """What each host took part in, at either end."""
    found: dict[str, list[Try]] = {}
    for attempt in tries:
        for name in dict.fromkeys(attempt.hosts):
            found.setdefault(name, []).append(attempt)
    return found


def _rails(entry: Try, hosts: Mapping[str, Host]) -> list[Rail]:
    """The rails of both ends, as far as they are known."""
    return [rail for _unused, rail in rdma_text.ends(entry, hosts)]


def _judge_mtu(hosts: Mapping[str, Host], tries: Sequence[Try], by_pair: ByPair, size: int) -> dict[str, list[Check]]:
    """The packets that both ends of a rail can send, and what of them arrives."""
    found: dict[str, list[Check]] = {name: [] for name in hosts}
    between = [attempt for attempt in tries if attempt.where == HOST and attempt.test == VERBS]
    for rail in sorted({attempt.rail for attempt in between}):
        mine = [attempt for attempt in between if attempt.rail == rail]
        differ = blame(attempt.hosts for attempt in mine if _mtus_differ(attempt, hosts))
        less = [attempt for attempt in mine if rdma_text.carries_less(attempt, by_pair.get(_key(attempt), {}))]
        choked = blame(attempt.hosts for attempt in less)
        for name, pairs in _by_host(mine).items():
            own = hosts[name].rails.get(rail) if name in hosts else None
            if own is None or size == 1 or hosts[name].off:
                continue
            found[name].append(_one_mtu(name, own, pairs, hosts, name in differ, name in choked))
    return found


def _mtus_differ(entry: Try, hosts: Mapping[str, Host]) -> bool:
    known = [rail.mtu for rail in _rails(entry, hosts) if rail.mtu]
    return len(set(known)) > 1


def _one_mtu(
    name: str,
    own: Rail,
    pairs: Sequence[Try],
    hosts: Mapping[str, Host],
    differs: bool,
    choked: bool,
) -> Check:
    if not own.mtu:
        return unknown(_MTU, own.name, "the MTU of the port is not known", remedy=_AGAIN)
    others = {
        other: rail.mtu for pair in pairs for other, rail in rdma_text.ends(pair, hosts) if other != name and rail.mtu
    }
    apart = {other: mtu for other, mtu in others.items() if mtu != own.mtu}
    if differs and apart:
        shown = ", ".join(f"{mtu} on {other}" for other, mtu in sorted(apart.items()))
        observed = f"{own.mtu} here, {shown}"
        interface = own.netdev or own.name
        cause = f"the MTU of {interface} is not that of the other end"
        check = failed(_MTU, own.name, observed, "one size at both ends", CAPABILITY, cause=cause)
        return held(check, name, apart, others.keys() - apart.keys())
    if choked:
        observed = f"packets of {own.mtu} bytes do not arrive, small ones do"
        cause = "a switch or bridge between the hosts carries smaller packets than both ends send"
        return failed(_MTU, own.name, observed, f"{own.mtu} bytes", CAPABILITY, cause=cause)
    alike = others.keys() - apart.keys()
    arrived = alike & {peer for pair in pairs if pair.arrived for peer in pair.hosts}
    if not arrived:
        return unknown(_MTU, own.name, "no full packet arrived anywhere", remedy=_AGAIN)
    return passed(_MTU, own.name, f"{own.mtu} bytes to {len(arrived)} hosts", "one size", CAPABILITY)


class Limit(NamedTuple):
    """``value`` in Gb/s or microseconds; ``source``: who says so."""

    value: float
    source: str


def check_id(where: str, test: str) -> str:
    """``fabric.rdma.verbs`` of hosts, ``container.rdma.verbs`` of containers."""
    return f"{'fabric' if where == HOST else 'container'}.rdma.{test}"


def judge(hosts: Mapping[str, Host], tries: Sequence[Try], size: int) -> dict[str, list[Check]]:
    """Checks per host. ``size``: how many hosts the inventory has.

    What failed between two hosts is laid at the door of the one whose own words or addresses tell
    it; else of the one that takes part in most failures. Where both are equally likely, at both.
    """
    checks: dict[str, list[Check]] = {name: [] for name in hosts}
    by_pair = _by_pair(tries)
    by_key: dict[tuple[str, str, str], list[Try]] = {}
    for attempt in tries:
        by_key.setdefault((attempt.where, attempt.test, attempt.rail), []).append(attempt)
    rails = sorted({rail for host in hosts.values() for rail in host.names})
    for where, test, rail in product(WHERE, TESTS, rails):
        group = _Group(where, test, rail, by_key.get((where, test, rail), ()), by_pair, hosts, size)
        for name, host in hosts.items():
            if rail in host.names and (where == HOST or host.containers):
                checks[name].append(group.of(name, host))
    for name, found in _judge_mtu(hosts, tries, by_pair, size).items():
        checks[name] += found
    return {name: _told_once(found) for name, found in checks.items()}


class _Group:
    """All tests of one kind, at one place and on one rail."""

    def __init__(
        self,
        where: str,
        test: str,
        rail: str,
        tries: Sequence[Try],
        by_pair: ByPair,
        hosts: Mapping[str, Host],
        size: int,
    ) -> None:
        self.id = check_id(where, test)
        self.where, self.test, self.rail = where, test, rail
        self.by_pair, self.hosts, self.size = by_pair, hosts, size
        self.of_host = _by_host(tries)
        self.bad = _blamed([t for t in tries if t.state == FAILED], hosts)
        self.slow = blame(t.hosts for t in tries if self._is_slow(t))

    def of(self, name: str, host: Host) -> Check:
        """The check of one host."""
        place = rdma_text.place(self.where, host)
        subject = f"{self.rail} {place}".strip()
        mine = self.of_host.get(name, [])
        why = self._skip(name, host, mine)
        if why:
            return skipped(self.id, subject, why)
        bad = [attempt for attempt in mine if attempt.state == FAILED]
        arrived = [attempt for attempt in mine if attempt.arrived]
        if bad and name in self.bad:
            # A server tells only of what it saw go wrong.
            tellers = {attempt.client for attempt in bad} | {attempt.server for attempt in bad if attempt.served.said}
            return held(self._failed(subject, name, bad, mine), name, tellers, (entry.client for entry in arrived))
        slow = [attempt for attempt in arrived if self._is_slow(attempt)]
        if slow and name in self.slow:
            quick = (attempt.client for attempt in arrived if attempt not in slow)
            return held(self._slow(subject, slow, arrived), name, (attempt.client for attempt in slow), quick)
        lame = host.error or host.missing.get(self.rail, "")
        if lame:
            return unknown(self.id, subject, lame, remedy=_AGAIN)
        own = [attempt.said for attempt in mine if attempt.state == UNTESTED and attempt.culprit == name]
        if own:
            return unknown(self.id, subject, own[0], remedy=_AGAIN)
        if not arrived:
            return unknown(self.id, subject, self._nobody(name, mine), remedy=_AGAIN)
        well = [attempt for attempt in arrived if attempt not in slow]
        if not well:
            others = sorted({peer for attempt in slow for peer in attempt.hosts} - {name})
            why = f"too slow, for a cause that is named at {', '.join(others)}"
            return unknown(self.id, subject, why, remedy=_AGAIN)
        return self._passed(subject, name, well, mine)

    def _skip(self, name: str, host: Host, mine: Sequence[Try]) -> str:
        if self.size == 1:
            return _ALONE
        if host.off:
            return host.off
        rail = host.rails.get(self.rail)
        if rail is not None and rail.kind == INFINIBAND and self.test == CM and not rail.address:
            return "rping needs an IP address of the rail (IPoIB), and none is known"
        own = [attempt.said for attempt in mine if attempt.culprit == name and attempt.kind == _NO_ENGINE]
        if own and not host.engine and all(attempt.kind == _NO_ENGINE for attempt in mine):
            return own[0]
        return ""

    def _failed(self, subject: str, name: str, bad: Sequence[Try], mine: Sequence[Try]) -> Check:
        first = next((attempt for attempt in bad if rdma_text.blamed(attempt, self.hosts) == name), bad[0])
        siblings = {test: entry for test, entry in self.by_pair.get(_key(first), {}).items() if test != self.test}
        cause, remedy = rdma_text.why(name, first, siblings, self.hosts)
        ways = ", ".join(dict.fromkeys(f"{attempt.client} to {attempt.server}" for attempt in bad))
        tested = sum(attempt.state != UNTESTED for attempt in mine)
        said = f"{first.at}: {first.said}"
        if first.served.said and first.at != "server":
            said += f"; server: {first.served.said}"
        observed = f"failed in {len(bad)} of {tested} pairs ({ways}); {said}"
        return failed(self.id, subject, observed, _ARRIVES, CAPABILITY, cause=cause, remedy=remedy)

    def _slow(self, subject: str, slow: Sequence[Try], arrived: Sequence[Try]) -> Check:
        pick: Callable[..., Try] = min if self.test == BANDWIDTH else max
        worst = pick(slow, key=lambda entry: self._number(entry) or 0.0)
        limit = self._limit(worst) or Limit(0.0, CAPABILITY)
        shown = f"{self._number(worst):.4g} {self._unit}"
        observed = f"{shown} from {worst.client} to {worst.server}, so in {len(slow)} of {len(arrived)} pairs"
        return failed(self.id, subject, observed, self._expected(limit), limit.source)

    def _passed(self, subject: str, name: str, arrived: Sequence[Try], mine: Sequence[Try]) -> Check:
        pairs = {attempt.hosts for attempt in mine}
        text = f"{len({attempt.hosts for attempt in arrived})} of {len(pairs)} pairs"
        numbers = [entry for entry in map(self._number, arrived) if entry is not None]
        if numbers:
            text += f", {median(numbers):.4g} {self._unit}"
        amount = sum(attempt.moved or 0 for attempt in arrived)
        text += f", {_bytes(amount)}" if amount else ""
        pings = sum(attempt.pings or 0 for attempt in arrived)
        text += f", {pings} pings" if pings else ""
        if numbers and any(self._soft(attempt) for attempt in arrived):
            text += f" ({_SOFT})"
        others = sorted({peer for attempt in mine if attempt not in arrived for peer in attempt.hosts} - {name})
        text += f"; not with {', '.join(others)} (told there)" if others else ""
        limit = next((self._limit(attempt) for attempt in arrived if self._limit(attempt)), None)
        if limit is None:
            return passed(self.id, subject, text, _ARRIVES, CAPABILITY)
        return passed(self.id, subject, text, self._expected(limit), limit.source)

    def _nobody(self, name: str, mine: Sequence[Try]) -> str:
        others = [
            f"{attempt.culprit}: {attempt.said}" for attempt in mine if attempt.culprit and attempt.culprit != name
        ]
        if others:
            return "; ".join(dict.fromkeys(others))
        if mine:
            return "no data arrived, for a cause that is named at the other host"
        lame = [
            f"{other}: {why}"
            for other, host in self.hosts.items()
            if other != name and (why := self._lame(host) or host.off)
        ]
        if lame:
            return "; ".join(lame[:_SHOWN])
        return "no other host with this rail took part (was there a --limit?)"

    def _lame(self, host: Host) -> str:
        """Why a host's rail took no part; where none of its rails was seen, any may be meant."""
        own = host.missing if self.rail in host.missing or not host.rails else {}
        return host.error or own.get(self.rail, "") or next(iter(own.values()), "")

    @property
    def _unit(self) -> str:
        return "Gb/s" if self.test == BANDWIDTH else "us"

    def _number(self, entry: Try) -> float | None:
        return {BANDWIDTH: entry.gbps, LATENCY: entry.usec}.get(self.test)

    def _expected(self, limit: Limit) -> str:
        return f"at {'least' if self.test == BANDWIDTH else 'most'} {limit.value:g} {self._unit}"

    def _soft(self, entry: Try) -> bool:
        return any(rail.soft for rail in _rails(entry, self.hosts))

    def _is_slow(self, entry: Try) -> bool:
        number, limit = self._number(entry), self._limit(entry)
        if number is None or limit is None or not entry.arrived:
            return False
        return number < limit.value if self.test == BANDWIDTH else number > limit.value

    def _limit(self, entry: Try) -> Limit | None:
        """What this test has to reach (or stay below); None where nobody says so."""
        if self.test not in (BANDWIDTH, LATENCY) or self._soft(entry):
            return None
        for host in (self.hosts.get(name) for name in entry.hosts):
            if host is None:
                continue
            said = host.bandwidth if self.test == BANDWIDTH else host.latency
            if said is not None:
                return Limit(said, INVENTORY)
        rates = [rail.rate for rail in _rails(entry, self.hosts)]
        known = [rate for rate in rates if rate is not None]
        if len(known) < len(entry.hosts):
            return None
        if self.test == LATENCY:
            floor = bench.LATENCY_US if min(known) >= bench.LATENCY_FROM_GBPS else None
        else:
            floor = bench.BANDWIDTH_GBPS.get(min(known))
        return Limit(floor.value, f"capability of {floor.of}") if floor else None


def _blamed(bad: Sequence[Try], hosts: Mapping[str, Host]) -> set[str]:
    """The hosts at which it surely lies, and as few others as explain the rest."""
    sure = {name for attempt in bad if (name := rdma_text.blamed(attempt, hosts))}
    return sure | blame(attempt.hosts for attempt in bad if not sure.intersection(attempt.hosts))


def _told_once(checks: list[Check]) -> list[Check]:
    """What is skipped for one reason on all rails is told once."""
    found: list[Check] = []
    seen: set[tuple[str, str]] = set()
    for check in checks:
        if check.result == "skip":
            key = (check.id, check.cause)
            if key in seen:
                continue
            seen.add(key)
        found.append(check)
    return found


def _bytes(amount: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount} bytes"
