# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured of each host, as one number a host: the worst of its parts, or a mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log10
from statistics import fmean
from typing import Any

from ...._ground.dicts import as_dict, as_list
from . import fleet
from .ports import ports
from .text import number

Values = Mapping[str, float]
Take = Callable[[fleet.Seen], Iterable[float]]
_MEASURED = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?([A-Za-z/]{1,6})\b")
_TEMPERATURE = re.compile(r"\btemperature (\d{1,3}(?:\.\d{1,3})?)\b")


def means(told: object, name: str) -> Values:
    """The mean of what a host measured in ``pings`` or ``tcp``."""
    times: dict[str, list[float]] = {}
    for entry in map(as_dict, as_list(told)):
        took = number(entry.get(name))
        if took is not None and took >= 0:
            times.setdefault(str(entry.get("client")), []).append(took)
    return {host: fmean(some) for host, some in times.items()}


def of(seen: Sequence[fleet.Seen], take: Take, worst: Callable[[Iterable[float]], float]) -> Values:
    """The worst value of each host that has some."""
    taken = ((host.name, list(take(host))) for host in seen)
    return {name: worst(values) for name, values in taken if values}


def rates(host: fleet.Seen) -> Iterator[float]:
    """Of rails that are up."""
    return (float(port.rate) for port in ports(host).values() if port.state == "Active" and port.rate)


def lanes(host: fleet.Seen) -> Iterator[float]:
    """Of the links of GPUs and HCAs."""
    return _links(host, ("gpus", "hcas"), "lanes")


def speeds(host: fleet.Seen) -> Iterator[float]:
    """Of the links of HCAs: a GPU that has nothing to do slows its own."""
    return _links(host, ("hcas",), "gts")


def _links(host: fleet.Seen, devices: Iterable[str], name: str) -> Iterator[float]:
    node, links = host.area("node"), as_dict(host.area("pci").get("links"))
    for device in (as_dict(entry) for some in devices for entry in as_list(node.get(some))):
        value = number(as_dict(links.get(str(device.get("address")))).get(name))
        if value is not None:
            yield value


def bit_errors(host: fleet.Seen) -> Iterator[float]:
    """Of each port before they are corrected, as powers of ten."""
    for detail in as_dict(host.area("ib").get("details")).values():
        rate = number(as_dict(as_dict(as_dict(detail).get("optics")).get("value")).get("raw_ber"))
        if rate is not None and 0 < rate <= 1:
            yield log10(rate)


def modules(host: fleet.Seen) -> Iterator[float]:
    """Temperatures of optical modules."""
    told = (str(check.get("observed")) for check in host.checks if check.get("id") == "ib.port.optics")
    return (float(match[1]) for said in told for match in _TEMPERATURE.finditer(said))


def gpus(host: fleet.Seen) -> Iterator[float]:
    """Temperatures of GPUs."""
    told = (number(as_dict(gpu).get("temperature")) for gpu in as_list(host.area("gpu").get("gpus")))
    return (degrees for degrees in told if degrees is not None)


def benchmarks(run: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, float]]:
    """The first number that a check of a benchmark saw, by check with its subject, and unit."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for name, host in as_dict(as_dict(run.get("benchmarks")).get("hosts")).items():
        for check in map(as_dict, as_list(as_dict(host).get("checks"))):
            match = _MEASURED.match(str(check.get("observed")))
            if match and ".bench." in str(check.get("id")):
                key = (f"{check.get('id')} {check.get('subject')}", match[2])
                found.setdefault(key, {})[str(name)] = float(match[1])
    return found
