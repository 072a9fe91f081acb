# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold equal hosts against each other in all that they should have alike; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    fleet_equal,
    fleet_ping,
    fleet_time,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_class import Kind
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_equal import Alike
from ansible_collections.ibready.cluster.plugins.module_utils._checks.ping import Ping
from ansible_collections.ibready.cluster.plugins.plugin_utils import _alike_facts, _alike_ports
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import Host

_NO_CLOCK = "a bundle holds no visit of the controller by which its clock could be compared"


def judge(hosts: Sequence[Host], size: int) -> dict[str, list[Check]]:
    """Versions, models, settings and clocks of the hosts of which anything is known."""
    told = [host for host in hosts if host.ib is not None]
    checks = fleet_equal.judge({host.name: alike(host) for host in told}, size)
    visits = {host.name: host.visit for host in told}
    recorded = {host.name: _NO_CLOCK for host in told if host.recorded}
    for name, more in fleet_time.judge(visits, size, recorded).items():
        checks[name] += more
    return checks


def compare(
    hosts: Sequence[Host], rails: Mapping[str, Sequence[str]], pings: Sequence[Ping], size: int
) -> dict[str, list[Check]]:
    """What only a diagnosis compares, as it may differ on sound hosts: PCIe links, round trips."""
    told = {host.name: alike(host) for host in hosts if host.ib is not None}
    checks = fleet_equal.judge_links(told, size)
    asked = {name: names for name, names in rails.items() if name in told}
    for name, more in fleet_ping.judge(asked, pings, size).items():
        checks[name] += more
    return checks


def kind(host: Host) -> Kind:
    """What a host is, as far as it told."""
    machine = as_dict(host.facts.get("machine"))
    system = as_dict(host.node.get("os"))
    product = machine.get("product")
    cas = host.ib.on_fabric().cas if host.ib is not None else ()
    return Kind(
        f"{product} {machine.get('arch') or ''}".strip() if product else "",
        f"{system.get('id', '')} {system.get('version', '')}".strip(),
        frozenset(str(one) for one in machine.get("gpus") or () if one),
        frozenset(ca.type for ca in cas if ca.type),
    )


def alike(host: Host) -> Alike:
    """One host; whatever its facts do not hold in the shape that ours have was not told."""
    return Alike(
        kind(host),
        {**_alike_facts.facts(host), **_alike_ports.facts(host)},
        _links(host),
    )


def _links(host: Host) -> dict[str, str]:
    """By address; of all but HCAs the lanes alone, for a GPU that rests has a slow link."""
    pci = as_dict(host.facts.get("pci"))
    machine: Mapping[str, Any] = as_dict(host.facts.get("machine"))
    hcas = {*as_dict(pci.get("rdma")).values(), *(machine.get("hcas") or ())}
    found = {}
    for address, link in as_dict(pci.get("links")).items():
        speed, lanes = as_dict(link).get("gts"), as_dict(link).get("lanes")
        if lanes is None or (address in hcas and speed is None):
            continue
        found[str(address)] = f"{speed:g} GT/s x{lanes}" if address in hcas else f"x{lanes}"
    return found
