# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what equal hosts should have alike beside their HCAs: versions, settings, PCIe links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks import fleet_same
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_class import (
    Group,
    Kind,
    groups,
)

HOST = "host"
_LINK = "fleet.pci.link"
_ASK_OTHERS = "judge at least two hosts of the same kind together"
_SHOWN = 4
Facts = Dict[str, Dict[str, str]]


@dataclass(frozen=True)
class Alike:
    """What of one host is compared. ``facts``: by check and subject, "" where it did not tell,
    nothing where it has none of it. ``links``: by PCI address (``32 GT/s x16``, or the lanes alone
    where the speed may rest)."""

    kind: Kind = field(default_factory=Kind)
    facts: Facts = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)


def judge(hosts: Mapping[str, Alike], size: int) -> dict[str, list[Check]]:
    """The facts of every host. ``size`` is how many hosts the inventory has."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups({host: one.kind for host, one in hosts.items()}, size):
        told: dict[tuple[str, str], dict[str, str]] = {}
        for host in group.hosts:
            for check_id, subjects in hosts[host].facts.items():
                for subject, value in subjects.items():
                    told.setdefault((check_id, subject), {})[host] = value
        for (check_id, subject), values in sorted(told.items()):
            fleet_same.same(check_id, subject, values, checks, group)
    return checks


def judge_links(hosts: Mapping[str, Alike], size: int) -> dict[str, list[Check]]:
    """The PCIe links of every host."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    for group in groups({host: one.kind for host, one in hosts.items()}, size):
        told: dict[str, list[str]] = {}
        for host in group.hosts:
            for address, link in hosts[host].links.items():
                told.setdefault(address, []).append(link)
        usual = {address: fleet_same.agreed(links) for address, links in told.items()}
        for host in group.hosts:
            if hosts[host].links:
                checks[host].append(_links(hosts[host], told, usual, group))
    return checks


def _links(
    one: Alike,
    told: Mapping[str, list[str]],
    usual: Mapping[str, tuple[str, int] | None],
    group: Group,
) -> Check:
    """``told``: of each address the links of all hosts of the group; ``usual``: of most of them."""
    if group.alone:
        return skipped(_LINK, HOST, group.alone)
    most = max(len(told[address]) for address in one.links)
    if most == 1:
        why = "no other host of this kind told of its links"
        return unknown(_LINK, HOST, why, remedy=_ASK_OTHERS)
    source = f"fleet {most}/{most}"
    odd: list[str] = []
    split: list[str] = []
    for address, mine in one.links.items():
        values, agreed = told[address], usual[address]
        if agreed is None and len(set(values)) > 1:
            split.append(f"{address} {mine}, another has {next(v for v in values if v != mine)}")
        elif agreed is not None and agreed[0] != mine:
            source = f"fleet {agreed[1]}/{len(values)}"
            odd.append(f"{address} {mine} instead of {agreed[0]}")
    if odd:
        return failed(_LINK, HOST, _some(odd), "links as on the others", source)
    if split:
        return unknown(_LINK, HOST, fleet_same.NO_MAJORITY + _some(split))
    return passed(_LINK, HOST, f"{len(one.links)} links", "links as on the others", source)


def _some(told: list[str]) -> str:
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more
