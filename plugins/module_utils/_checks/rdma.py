# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what data arrived over RDMA: all tests in, checks per host out, no I/O."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import Callable, Mapping, NamedTuple, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    _rdma_text,
    rdma_mtu,
    rdma_pairs,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._blame import blame
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import bench
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
    BANDWIDTH,
    CM,
    FAILED,
    HOST,
    LATENCY,
    TESTS,
    UNTESTED,
    WHERE,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY, INVENTORY
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.tried import (
    INFINIBAND,
    Host,
    Try,
)

_ALONE = "one host: there is no other to move data to"
_NO_ENGINE = "no engine"
_SHOWN = 4
_ARRIVES = "data that arrives as it was sent"
_SOFT = "software RDMA: its speed is not judged"


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
    by_pair = rdma_pairs.by_pair(tries)
    by_key: dict[tuple[str, str, str], list[Try]] = {}
    for one in tries:
        by_key.setdefault((one.where, one.test, one.rail), []).append(one)
    rails = sorted({rail for host in hosts.values() for rail in host.names})
    for where, test, rail in product(WHERE, TESTS, rails):
        group = _Group(where, test, rail, by_key.get((where, test, rail), ()), by_pair, hosts, size)
        for name, host in hosts.items():
            if rail in host.names and (where == HOST or host.containers):
                checks[name].append(group.of(name, host))
    for name, found in rdma_mtu.judge(hosts, tries, by_pair, size).items():
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
        by_pair: rdma_pairs.ByPair,
        hosts: Mapping[str, Host],
        size: int,
    ) -> None:
        self.id = check_id(where, test)
        self.where, self.test, self.rail = where, test, rail
        self.by_pair, self.hosts, self.size = by_pair, hosts, size
        self.of_host = rdma_pairs.by_host(tries)
        self.bad = _blamed([t for t in tries if t.state == FAILED], hosts)
        self.slow = blame(t.hosts for t in tries if self._is_slow(t))

    def of(self, name: str, host: Host) -> Check:
        """The check of one host."""
        place = _rdma_text.place(self.where, host)
        subject = f"{self.rail} {place}".strip()
        mine = self.of_host.get(name, [])
        why = self._skip(name, host, mine)
        if why:
            return skipped(self.id, subject, why)
        bad = [one for one in mine if one.state == FAILED]
        if bad and name in self.bad:
            return self._failed(subject, name, bad, mine)
        arrived = [one for one in mine if one.arrived]
        slow = [one for one in arrived if self._is_slow(one)]
        if slow and name in self.slow:
            return self._slow(subject, slow, arrived)
        lame = host.error or host.missing.get(self.rail, "")
        if lame:
            return unknown(self.id, subject, lame, remedy=rdma_pairs.AGAIN)
        own = [one.said for one in mine if one.state == UNTESTED and one.culprit == name]
        if own:
            return unknown(self.id, subject, own[0], remedy=rdma_pairs.AGAIN)
        if not arrived:
            return unknown(self.id, subject, self._nobody(name, mine), remedy=rdma_pairs.AGAIN)
        well = [one for one in arrived if one not in slow]
        if not well:
            others = sorted({peer for one in slow for peer in one.hosts} - {name})
            why = f"too slow, for a cause that is named at {', '.join(others)}"
            return unknown(self.id, subject, why, remedy=rdma_pairs.AGAIN)
        return self._passed(subject, name, well, mine)

    def _skip(self, name: str, host: Host, mine: Sequence[Try]) -> str:
        if self.size == 1:
            return _ALONE
        if host.off:
            return host.off
        rail = host.rails.get(self.rail)
        if rail is not None and rail.kind == INFINIBAND and self.test == CM and not rail.address:
            return "rping needs an IP address of the rail (IPoIB), and none is known"
        own = [one.said for one in mine if one.culprit == name and one.kind == _NO_ENGINE]
        if own and not host.engine and all(one.kind == _NO_ENGINE for one in mine):
            return own[0]
        return ""

    def _failed(self, subject: str, name: str, bad: Sequence[Try], mine: Sequence[Try]) -> Check:
        first = next((one for one in bad if _rdma_text.blamed(one, self.hosts) == name), bad[0])
        siblings = {
            test: one
            for test, one in self.by_pair.get(rdma_pairs.key(first), {}).items()
            if test != self.test
        }
        cause, remedy = _rdma_text.why(name, first, siblings, self.hosts)
        ways = ", ".join(dict.fromkeys(f"{one.client} to {one.server}" for one in bad))
        tested = sum(one.state != UNTESTED for one in mine)
        said = f"{first.at}: {first.said}"
        if first.served.said and first.at != "server":
            said += f"; server: {first.served.said}"
        observed = f"failed in {len(bad)} of {tested} pairs ({ways}); {said}"
        return failed(self.id, subject, observed, _ARRIVES, CAPABILITY, cause=cause, remedy=remedy)

    def _slow(self, subject: str, slow: Sequence[Try], arrived: Sequence[Try]) -> Check:
        pick: Callable[..., Try] = min if self.test == BANDWIDTH else max
        worst = pick(slow, key=lambda one: self._number(one) or 0.0)
        limit = self._limit(worst) or Limit(0.0, CAPABILITY)
        shown = f"{self._number(worst):.4g} {self._unit}"
        observed = (
            f"{shown} from {worst.client} to {worst.server}, so in {len(slow)} of {len(arrived)} "
            "pairs"
        )
        return failed(self.id, subject, observed, self._expected(limit), limit.source)

    def _passed(
        self, subject: str, name: str, arrived: Sequence[Try], mine: Sequence[Try]
    ) -> Check:
        pairs = {one.hosts for one in mine}
        text = f"{len({one.hosts for one in arrived})} of {len(pairs)} pairs"
        numbers = [one for one in map(self._number, arrived) if one is not None]
        if numbers:
            text += f", {median(numbers):.4g} {self._unit}"
        amount = sum(one.moved or 0 for one in arrived)
        text += f", {_bytes(amount)}" if amount else ""
        pings = sum(one.pings or 0 for one in arrived)
        text += f", {pings} pings" if pings else ""
        if numbers and any(self._soft(one) for one in arrived):
            text += f" ({_SOFT})"
        others = sorted({peer for one in mine if one not in arrived for peer in one.hosts} - {name})
        text += f"; not with {', '.join(others)} (told there)" if others else ""
        limit = next((self._limit(one) for one in arrived if self._limit(one)), None)
        if limit is None:
            return passed(self.id, subject, text, _ARRIVES, CAPABILITY)
        return passed(self.id, subject, text, self._expected(limit), limit.source)

    def _nobody(self, name: str, mine: Sequence[Try]) -> str:
        others = [
            f"{one.culprit}: {one.said}" for one in mine if one.culprit and one.culprit != name
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

    def _number(self, one: Try) -> float | None:
        return {BANDWIDTH: one.gbps, LATENCY: one.usec}.get(self.test)

    def _expected(self, limit: Limit) -> str:
        return f"at {'least' if self.test == BANDWIDTH else 'most'} {limit.value:g} {self._unit}"

    def _soft(self, one: Try) -> bool:
        return any(rail.soft for rail in rdma_pairs.rails(one, self.hosts))

    def _is_slow(self, one: Try) -> bool:
        number, limit = self._number(one), self._limit(one)
        if number is None or limit is None or not one.arrived:
            return False
        return number < limit.value if self.test == BANDWIDTH else number > limit.value

    def _limit(self, one: Try) -> Limit | None:
        """What this test has to reach (or stay below); None where nobody says so."""
        if self.test not in (BANDWIDTH, LATENCY) or self._soft(one):
            return None
        for host in (self.hosts.get(name) for name in one.hosts):
            if host is None:
                continue
            said = host.bandwidth if self.test == BANDWIDTH else host.latency
            if said is not None:
                return Limit(said, INVENTORY)
        rates = [rail.rate for rail in rdma_pairs.rails(one, self.hosts)]
        known = [rate for rate in rates if rate is not None]
        if len(known) < len(one.hosts):
            return None
        if self.test == LATENCY:
            floor = bench.LATENCY_US if min(known) >= bench.LATENCY_FROM_GBPS else None
        else:
            floor = bench.BANDWIDTH_GBPS.get(min(known))
        return Limit(floor.value, f"capability of {floor.of}") if floor else None


def _blamed(bad: Sequence[Try], hosts: Mapping[str, Host]) -> set[str]:
    """The hosts at which it surely lies, and as few others as explain the rest."""
    sure = {name for one in bad if (name := _rdma_text.blamed(one, hosts))}
    return sure | blame(one.hosts for one in bad if not sure.intersection(one.hosts))


def _told_once(checks: list[Check]) -> list[Check]:
    """What is skipped for one reason on all rails is told once."""
    found: list[Check] = []
    seen: set[tuple[str, str]] = set()
    for one in checks:
        if one.result == "skip":
            key = (one.id, one.cause)
            if key in seen:
                continue
            seen.add(key)
        found.append(one)
    return found


def _bytes(amount: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount} bytes"
