# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what perftest measured between hosts: all pairs in, checks per host out, no I/O.

What stands out of equal things is told by median and median absolute deviation (_data/bench.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import Callable, Iterable, Mapping, Sequence, Tuple

from .._data.bench import (
    BANDWIDTH,
    BANDWIDTH_GBPS,
    EQUALS,
    LATENCY_FROM_GBPS,
    LATENCY_US,
    MAD_PER_SIGMA,
    OUTLIER_Z,
    READ_LAT,
    SEND_LAT,
    TESTS,
    TOLERANCE,
    WRITE_BW,
    WRITE_BW_GPU,
    Floor,
)
from .._expect.expectations import INVENTORY
from .._ground.check import FAIL, SKIP, Check, failed, passed, skipped, unknown
from .._ground.link import gbps
from .blame import blame

_IDS = {
    WRITE_BW: "fabric.bench.bandwidth",
    WRITE_BW_GPU: "fabric.bench.gpudirect",
    READ_LAT: "fabric.bench.latency",
    SEND_LAT: "fabric.bench.latency",
}
_OUTLIER = "fabric.bench.outlier"
AGAIN = "fix what kept it from being measured, then run playbooks/bench.yml again"
_BAD_ALONE = "all its pairs were with hosts that are named as slow"
_NO_FLOOR = "nobody published what {what} has to reach"

# Rail and test: what is judged together on one host.
Key = Tuple[str, str]


@dataclass(frozen=True)
class Usual:
    """``center``: the median of ``count`` values. ``mad``: their median absolute deviation."""

    center: float
    mad: float
    count: int

    def limit(self, *, more_is_better: bool) -> float:
        """What a value may be at worst: beyond the spread, and beyond what anybody would feel."""
        away = max(OUTLIER_Z * self.mad / MAD_PER_SIGMA, TOLERANCE * self.center)
        return self.center - away if more_is_better else self.center + away

    def is_worse(self, value: float, *, more_is_better: bool) -> bool:
        """Whether a value stands out to the worse."""
        limit = self.limit(more_is_better=more_is_better)
        return value < limit if more_is_better else value > limit


def usual_of(values: Sequence[float]) -> Usual:
    """Of at least one value."""
    center = median(values)
    return Usual(center, median(abs(value - center) for value in values), len(values))


@dataclass(frozen=True)
class Measure:
    """One measurement from ``client`` to ``server``: Gb/s or microseconds.

    ``rate``: of the slower port, Gb/s, None where that is unknown. ``untested``: why there is no
    number, and then ``culprit`` is the host that it lies at.
    """

    client: str
    server: str
    rail: str
    test: str
    value: float = 0.0
    rate: float | None = None
    untested: str = ""
    culprit: str = ""

    @property
    def unit(self) -> str:
        return "Gb/s" if self.test in BANDWIDTH else "us"


@dataclass(frozen=True)
class Wanted:
    """``rails``: what each host is judged on. ``skips``: why not, by host and test.

    ``bandwidth``, ``latency``: the site's own floors, None where it has none.
    """

    rails: Mapping[str, Sequence[str]]
    tests: Sequence[str] = TESTS
    skips: Mapping[tuple[str, str], str] = field(default_factory=dict)
    bandwidth: float | None = None
    latency: float | None = None


def judge(wanted: Wanted, measures: Iterable[Measure], size: int) -> dict[str, list[Check]]:
    """Checks per host. ``size``: how many hosts the inventory has.

    What is too slow is laid at the door of the host that takes part in most slow pairs of a rail.
    Equal are the pairs of one test between ports of one rate.
    """
    by_key: dict[Key, list[Measure]] = {}
    for measure in measures:
        by_key.setdefault((measure.rail, measure.test), []).append(measure)
    usual = _usual(by_key)
    checks: dict[str, list[Check]] = {host: [] for host in wanted.rails}
    for rail in sorted({rail for rails in wanted.rails.values() for rail in rails}):
        for test in wanted.tests:
            tried = by_key.get((rail, test), [])
            slow = _blamed(entry for entry in tried if _is_slow(wanted, entry))
            late = _blamed(entry for entry in tried if _stands_out(usual, entry))
            spoilt = _spoilers(tried)
            by_host = _by_host(tried)
            for host, rails in wanted.rails.items():
                if rail not in rails:
                    continue
                subject = f"{rail} {test}"
                why = _skip(wanted, host, test, size)
                if why:
                    checks[host].append(skipped(_IDS[test], subject, why))
                    continue
                mine = by_host.get(host, [])
                found = (
                    _floor(wanted, subject, test, host, mine, host in slow),
                    _outlier(usual, subject, host, mine, host in late),
                )
                checks[host] += [_spoilt(check, host, mine) for check in found] if host in spoilt else found
    return checks


def _by_host(tried: Iterable[Measure]) -> dict[str, list[Measure]]:
    """What each host took part in: with thousands of hosts nobody looks through all for each."""
    found: dict[str, list[Measure]] = {}
    for measure in tried:
        for host in sorted({measure.client, measure.server}):
            found.setdefault(host, []).append(measure)
    return found


def _skip(wanted: Wanted, host: str, test: str, size: int) -> str:
    if size == 1:
        return "one host: there is no other to measure against"
    return wanted.skips.get((host, test), "")


def _blamed(bad: Iterable[Measure]) -> set[str]:
    return blame({(measure.client, measure.server) for measure in bad})


def _spoilers(tried: Sequence[Measure]) -> set[str]:
    """The hosts at whose door it lies that pairs have no number.

    A server that complained, or a host that never asked, is named; a client that got no answer may
    not be the one to blame.
    """
    left = [measure for measure in tried if measure.untested]
    sure = {rest.culprit for rest in left if rest.culprit != rest.client or not rest.server}
    return sure | _blamed(rest for rest in left if not sure & {rest.client, rest.server})


def _spoilt(check: Check, host: str, mine: Sequence[Measure]) -> Check:
    """Numbers of other pairs do not make up for those that this host has spoilt."""
    if check.result in (FAIL, SKIP):
        return check
    reported = [measure for measure in mine if not measure.untested]
    observed = _shown(reported) if reported else ""
    return unknown(check.id, check.subject, _why(host, mine), observed=observed, remedy=AGAIN)


def _usual(by_key: Mapping[Key, Sequence[Measure]]) -> dict[tuple[str, float | None], Usual]:
    """What is usual of a test between ports of one rate, where there are enough equal pairs."""
    values: dict[tuple[str, float | None], list[float]] = {}
    for measures in by_key.values():
        for measure in measures:
            if not measure.untested:
                values.setdefault((measure.test, measure.rate), []).append(measure.value)
    return {key: usual_of(reported) for key, reported in values.items() if len(reported) >= EQUALS}


def _limit(wanted: Wanted, measure: Measure) -> tuple[float, str] | None:
    """What this measurement has to reach (or stay below), and who says so; None without anybody."""
    if measure.test in BANDWIDTH:
        if wanted.bandwidth is not None:
            return wanted.bandwidth, INVENTORY
        return _sourced(BANDWIDTH_GBPS.get(measure.rate) if measure.rate is not None else None)
    if wanted.latency is not None:
        return wanted.latency, INVENTORY
    return _sourced(LATENCY_US if (measure.rate or 0.0) >= LATENCY_FROM_GBPS else None)


def _sourced(floor: Floor | None) -> tuple[float, str] | None:
    return None if floor is None else (floor.value, f"capability of {floor.of}")


def _is_slow(wanted: Wanted, measure: Measure) -> bool:
    limit = _limit(wanted, measure)
    if measure.untested or limit is None:
        return False
    return measure.value < limit[0] if measure.test in BANDWIDTH else measure.value > limit[0]


def _stands_out(usual: Mapping[tuple[str, float | None], Usual], measure: Measure) -> bool:
    known = usual.get((measure.test, measure.rate))
    if measure.untested or known is None:
        return False
    return known.is_worse(measure.value, more_is_better=measure.test in BANDWIDTH)


def _floor(wanted: Wanted, subject: str, test: str, host: str, mine: Sequence[Measure], blamed: bool) -> Check:
    name = _IDS[test]
    reported = [measure for measure in mine if not measure.untested]
    if not reported:
        return unknown(name, subject, _why(host, mine), remedy=AGAIN)
    slow = [measure for measure in reported if _is_slow(wanted, measure)]
    shown = _told_of(reported, slow, blamed)
    limits = [_limit(wanted, measure) for measure in shown]
    limit = next((limit for limit in limits if limit is not None), None)
    observed = _shown(reported)
    if limit is None:
        key = "bandwidth_gbps" if test in BANDWIDTH else "latency_us"
        rate = shown[0].rate
        what = "a port of unknown rate" if rate is None else f"a port of {gbps(rate)}"
        why = _NO_FLOOR.format(what=what)
        return unknown(name, subject, why, observed=observed, remedy=f"set {key} in bench_floors")
    word = "at least" if test in BANDWIDTH else "at most"
    expected = f"{word} {limit[0]:g} {reported[0].unit}"
    if blamed and slow:
        return failed(name, subject, _in_pairs(slow, reported), expected, limit[1])
    if len(slow) == len(reported):
        return unknown(name, subject, _BAD_ALONE, observed=observed, remedy=AGAIN)
    return passed(name, subject, _apart(reported, slow), expected, limit[1])


def _outlier(
    usual: Mapping[tuple[str, float | None], Usual],
    subject: str,
    host: str,
    mine: Sequence[Measure],
    blamed: bool,
) -> Check:
    reported = [measure for measure in mine if not measure.untested]
    if not reported:
        return unknown(_OUTLIER, subject, _why(host, mine), remedy=AGAIN)
    late = [measure for measure in reported if _stands_out(usual, measure)]
    keys = [(measure.test, measure.rate) for measure in _told_of(reported, late, blamed)]
    known = next((usual[key] for key in keys if key in usual), None)
    if known is None:
        # Nobody can stand out of so few: that is no fault of this host, and a floor is judged.
        return skipped(_OUTLIER, subject, f"fewer than {EQUALS} equal pairs were measured")
    better = reported[0].test in BANDWIDTH
    word = "at least" if better else "at most"
    limit = known.limit(more_is_better=better)
    expected = f"{word} {limit:.4g} {reported[0].unit} (usual: {known.center:.4g})"
    source = f"fleet {known.count}/{known.count}"
    if blamed and late:
        return failed(_OUTLIER, subject, _in_pairs(late, reported), expected, source)
    if len(late) == len(reported):
        return unknown(_OUTLIER, subject, _BAD_ALONE, observed=_shown(reported), remedy=AGAIN)
    return passed(_OUTLIER, subject, _apart(reported, late), expected, source)


def _why(host: str, mine: Sequence[Measure]) -> str:
    """Why there is no number: what lies at this host first."""
    left = [measure for measure in mine if measure.untested]
    own = [rest.untested for rest in left if rest.culprit == host]
    others = [f"{rest.culprit}: {rest.untested}" for rest in left if rest.culprit != host]
    return next(iter((*own, *others)), "no pair with this host was measured")


def _shown(told: Sequence[Measure]) -> str:
    middle = median(measure.value for measure in told)
    pairs = "1 pair" if len(told) == 1 else f"{len(told)} pairs"
    return f"{middle:.4g} {told[0].unit} ({pairs})"


def _apart(told: Sequence[Measure], slow: Sequence[Measure]) -> str:
    """The good ones, and how many others there are that are laid at the other end."""
    shown = _shown([measure for measure in told if measure not in slow])
    pairs = "1 pair" if len(slow) == 1 else f"{len(slow)} pairs"
    return f"{shown}, apart from {pairs} with slow hosts" if slow else shown


def _in_pairs(slow: Sequence[Measure], told: Sequence[Measure]) -> str:
    worst = _worst(slow)
    where = f"{worst.client} to {worst.server}"
    return f"{worst.value:.4g} {worst.unit} from {where}, slow in {len(slow)} of {len(told)} pairs"


def _told_of(told: Sequence[Measure], bad: Sequence[Measure], blamed: bool) -> Sequence[Measure]:
    """What the limit that is shown is for: the worst where it fails, else what is good."""
    if blamed and bad:
        return [_worst(bad)]
    return [measure for measure in told if measure not in bad] or told


def _worst(measures: Sequence[Measure]) -> Measure:
    """Of one test."""
    pick: Callable[..., Measure] = min if measures[0].test in BANDWIDTH else max
    return pick(measures, key=lambda measure: measure.value)
