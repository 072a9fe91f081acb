# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of every host, as distributions: a straggler is seen before a check judges it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from ...._ground.dicts import as_dict
from . import fleet, values

# A distribution of fewer tells nothing; more values of a kind than these are not read.
FEW, STRIPS = 4, 24
# Apart from the others: so many median deviations, and so much of the median, that noise is no signal.
_FAR, _PART = 6.0, 0.1


@dataclass(frozen=True)
class Strip:
    """``name``: a word of the page, of ``of`` (a check and its subject); ``values``: by host.

    ``kind``: which hosts they are, where the run has several kinds. ``lacking``: of which nothing was
    measured. ``powers``: the values are powers of ten.
    """

    name: str
    of: str
    unit: str
    values: Mapping[str, float]
    kind: str = ""
    lacking: tuple[str, ...] = ()
    powers: bool = False

    @property
    def middle(self) -> float:
        return median(self.values.values())

    @property
    def alike(self) -> bool:
        """Whether all are the same, which needs no picture."""
        return len(set(self.values.values())) == 1

    @property
    def apart(self) -> list[str]:
        """The hosts that stand apart, the farthest first."""
        middle = self.middle
        spread = median(abs(value - middle) for value in self.values.values())
        limit = max(_FAR * spread, _PART * abs(middle))
        far = {host: abs(value - middle) for host, value in self.values.items() if abs(value - middle) > limit}
        return sorted(far, key=lambda host: -far[host])

    def says(self, value: float) -> str:
        """A value with its unit."""
        return f"{10**value:.1e}" if self.powers else f"{value:.4g} {self.unit}".rstrip()


def read(run: Mapping[str, Any]) -> list[Strip]:
    """Those of which enough hosts have a value, of each class of equal hosts."""
    seen = fleet.hosts(run)
    every = [host.name for host in seen]
    with_gpus = [host.name for host in seen if host.area("node").get("gpus") != []]
    measured = [str(name) for name in as_dict(as_dict(run.get("benchmarks")).get("hosts"))]
    found = [
        (Strip("trip", "", "ms", values.means(run.get("pings"), "rtt_avg_ms")), every),
        (Strip("connect", "", "ms", values.means(run.get("tcp"), "ms")), every),
        (Strip("rate", "", "Gb/s", values.of(seen, values.rates, min)), every),
        (Strip("bits", "", "", values.of(seen, values.bit_errors, max), powers=True), every),
        (Strip("module", "ib.port.optics", "°C", values.of(seen, values.modules, max)), every),
        (Strip("gpu", "", "°C", values.of(seen, values.gpus, max)), with_gpus),
        (Strip("lanes", "", "", values.of(seen, values.lanes, min)), every),
        (Strip("speed", "", "GT/s", values.of(seen, values.speeds, min)), every),
        *((Strip("bench", of, unit, some), measured) for (of, unit), some in values.benchmarks(run).items()),
    ]
    classes = [
        (some.name, {host.name for host in some.hosts})
        for some in fleet.classes(seen, fleet.size(run))
        if any(fleet.kind(host).product for host in some.hosts)
    ]
    split = (part for strip, asked in found for part in _split(strip, asked, classes))
    return [strip for strip in split if len(strip.values) >= FEW][:STRIPS]


def _split(strip: Strip, asked: list[str], classes: list[tuple[str, set[str]]]) -> Iterator[Strip]:
    """By class; hosts that did not tell what they are stand with the biggest."""
    known = set[str]().union(*(hosts for _name, hosts in classes))
    unknown = {*asked, *strip.values} - known
    for number, (name, hosts) in enumerate(classes or [("", unknown)]):
        mine = hosts if number else hosts | unknown
        yield replace(
            strip,
            kind=name if len(classes) > 1 else "",
            values={host: value for host, value in strip.values.items() if host in mine},
            lacking=tuple(host for host in asked if host in mine and host not in strip.values),
        )
