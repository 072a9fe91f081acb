# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of every host, as distributions: a straggler is seen before a check judges it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from ...._ground.dicts import as_dict, as_list
from . import fleet
from .text import number

# A distribution of fewer tells nothing; more values of a kind than these are not read.
FEW, STRIPS = 4, 24
# Apart from the others: so many median deviations, and so much of the median, that noise is no signal.
_FAR, _PART = 6.0, 0.1
_MEASURED = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?([A-Za-z/]{1,6})\b")
_TEMPERATURE = re.compile(r"\btemperature (\d{1,3}(?:\.\d{1,3})?)\b")


@dataclass(frozen=True)
class Strip:
    """``name``: a word of the page, of ``of`` (a check and its subject); ``values``: by host."""

    name: str
    of: str
    unit: str
    values: Mapping[str, float]

    @property
    def middle(self) -> float:
        return median(self.values.values())

    @property
    def apart(self) -> list[str]:
        """The hosts that stand apart, the farthest first."""
        middle = self.middle
        spread = median(abs(value - middle) for value in self.values.values())
        limit = max(_FAR * spread, _PART * abs(middle))
        far = {host: abs(value - middle) for host, value in self.values.items() if abs(value - middle) > limit}
        return sorted(far, key=lambda host: -far[host])


def read(run: Mapping[str, Any]) -> list[Strip]:
    """Those of which enough hosts have a value."""
    found = [Strip("trip", "", "ms", _trips(run)), Strip("module", "ib.port.optics", "°C", _temperatures(run))]
    found += _benchmarks(run)
    return [strip for strip in found if len(strip.values) >= FEW][:STRIPS]


def _trips(run: Mapping[str, Any]) -> dict[str, float]:
    """The mean of all round trips that a host asked for."""
    times: dict[str, list[float]] = {}
    for ping in map(as_dict, as_list(run.get("pings"))):
        mean = number(ping.get("rtt_avg_ms"))
        if mean is not None and mean >= 0:
            times.setdefault(str(ping.get("client")), []).append(mean)
    return {host: fmean(some) for host, some in times.items()}


def _temperatures(run: Mapping[str, Any]) -> dict[str, float]:
    """Of the warmest module of each host."""
    found: dict[str, float] = {}
    for host in fleet.hosts(run):
        told = (str(check.get("observed")) for check in host.checks if check.get("id") == "ib.port.optics")
        degrees = [float(match[1]) for said in told for match in _TEMPERATURE.finditer(said)]
        if degrees:
            found[host.name] = max(degrees)
    return found


def _benchmarks(run: Mapping[str, Any]) -> list[Strip]:
    """The first number that a check of a benchmark saw, by check, subject and unit."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for name, host in as_dict(as_dict(run.get("benchmarks")).get("hosts")).items():
        for check in map(as_dict, as_list(as_dict(host).get("checks"))):
            match = _MEASURED.match(str(check.get("observed")))
            if match and ".bench." in str(check.get("id")):
                key = (f"{check.get('id')} {check.get('subject')}", match[2])
                values.setdefault(key, {})[str(name)] = float(match[1])
    return [Strip("bench", of, unit, some) for (of, unit), some in values.items()]
