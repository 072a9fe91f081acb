# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what equal hosts should have alike beside their HCAs: versions, GPUs and PCIe links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._checks import fleet
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)

HOST = "host"
_LINK = "fleet.pci.link"
_ASK_FIRST = "mend what kept the host from telling it, then judge it again"
_ASK_OTHERS = "judge at least two hosts of the same kind together"
_SHOWN = 4


@dataclass(frozen=True)
class Alike:
    """What of one host is compared: "" where it did not tell, None where it has none of it.

    ``kind``: the machine's product and board; only hosts of one kind have the same ``links``, which
    are told by PCI address (``32 GT/s x16``, or the lanes alone where the speed may rest).
    """

    driver: str | None = None
    rdma: str | None = None
    nccl: str | None = None
    gpus: str | None = None
    kind: str = ""
    links: Mapping[str, str] = field(default_factory=dict)


def judge(hosts: Mapping[str, Alike], size: int) -> dict[str, list[Check]]:
    """The checks of every host. ``size`` is how many hosts the inventory has."""
    checks: dict[str, list[Check]] = {host: [] for host in hosts}
    alike = {
        "fleet.driver.version": {host: one.driver for host, one in hosts.items()},
        "fleet.rdma.version": {host: one.rdma for host, one in hosts.items()},
        "fleet.nccl.version": {host: one.nccl for host, one in hosts.items()},
        "fleet.gpu.model": {host: one.gpus for host, one in hosts.items()},
    }
    for check_id, told in alike.items():
        values = {host: value for host, value in told.items() if value is not None}
        fleet.same(check_id, HOST, values, checks, size, _ASK_FIRST)
    kinds: dict[str, dict[str, list[str]]] = {}
    for one in hosts.values():
        for address, link in one.links.items():
            kinds.setdefault(one.kind, {}).setdefault(address, []).append(link)
    usual = {
        kind: {address: fleet.agreed(links) for address, links in told.items()}
        for kind, told in kinds.items()
    }
    for host, one in hosts.items():
        if one.links:
            checks[host].append(_links(one, kinds[one.kind], usual[one.kind], size))
    return checks


def _links(
    one: Alike,
    told: Mapping[str, list[str]],
    usual: Mapping[str, tuple[str, int] | None],
    size: int,
) -> Check:
    """``told``: of each address the links of all hosts of this kind; ``usual``: of most of them."""
    if size == 1:
        return skipped(_LINK, HOST, "one host: no other to compare with")
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
        return unknown(_LINK, HOST, fleet.NO_MAJORITY + _some(split))
    return passed(_LINK, HOST, f"{len(one.links)} links", "links as on the others", source)


def _some(told: list[str]) -> str:
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more
