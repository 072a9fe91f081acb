# SPDX-License-Identifier: GPL-3.0-or-later
"""What of each host equal hosts have alike, taken from what the hosts told; no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    fleet_equal,
    fleet_ping,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    PASS,
    UNKNOWN,
    Check,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_equal import Alike
from ansible_collections.ibready.cluster.plugins.module_utils._checks.ping import Ping
from ansible_collections.ibready.cluster.plugins.module_utils._data.stack_components import (
    PACKAGES,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import Host

NOT_INSTALLED = "not installed"
_RDMA = "stack.rdma.version"


def judge(
    hosts: Sequence[Host], rails: Mapping[str, Sequence[str]], pings: Sequence[Ping], size: int
) -> dict[str, list[Check]]:
    """Versions, GPUs, PCIe links and round trips of the hosts of which anything is known."""
    told = {host.name: alike(host) for host in hosts if host.ib is not None}
    if all(one.nccl in (None, NOT_INSTALLED) for one in told.values()):
        # Jobs bring their own: there is nothing to compare.
        told = {name: _without_nccl(one) for name, one in told.items()}
    checks = fleet_equal.judge(told, size)
    asked = {name: names for name, names in rails.items() if name in told}
    for name, more in fleet_ping.judge(asked, pings, size).items():
        checks[name] += more
    return checks


def alike(host: Host) -> Alike:
    """One host; whatever its facts do not hold in the shape that ours have was not told."""
    machine = _dict(host.facts.get("machine"))
    return Alike(
        driver=_driver(host, machine),
        rdma=_rdma(host.checks),
        nccl=_nccl(host),
        gpus=_gpus(machine),
        kind=f"{machine.get('product')} {machine.get('profile')}",
        links=_links(host, machine),
    )


def _without_nccl(one: Alike) -> Alike:
    return Alike(one.driver, one.rdma, None, one.gpus, one.kind, one.links)


def _driver(host: Host, machine: Mapping[str, Any]) -> str | None:
    gpu = _dict(host.facts.get("gpu"))
    version = _dict(gpu.get("module")).get("version") or gpu.get("driver")
    if version:
        return str(version)
    return "" if gpu and machine.get("gpus") else None


def _rdma(checks: Sequence[Check]) -> str | None:
    mine = [one for one in checks if one.id == _RDMA and one.result in (PASS, UNKNOWN)]
    return mine[0].observed if mine else None


def _nccl(host: Host) -> str | None:
    stack = _dict(host.facts.get("stack"))
    if not stack:
        return None
    packages = _dict(stack.get("packages")).get("value")
    if not isinstance(packages, list | tuple):
        return ""
    found = [one.get("version") for one in map(_dict, packages) if one.get("name") in _NCCL]
    return str(found[0]) if found else NOT_INSTALLED


_NCCL = PACKAGES["nccl"]


def _gpus(machine: Mapping[str, Any]) -> str | None:
    models = [str(one or "unknown model") for one in machine.get("gpus") or ()]
    counted = {model: models.count(model) for model in sorted(models)}
    return ", ".join(f"{times}x {model}" for model, times in counted.items()) or None


def _links(host: Host, machine: Mapping[str, Any]) -> dict[str, str]:
    """By address; of all but HCAs the lanes alone, for a GPU that rests has a slow link."""
    pci = _dict(host.facts.get("pci"))
    hcas = {*_dict(pci.get("rdma")).values(), *(machine.get("hcas") or ())}
    found = {}
    for address, link in _dict(pci.get("links")).items():
        speed, lanes = _dict(link).get("gts"), _dict(link).get("lanes")
        if lanes is None or (address in hcas and speed is None):
            continue
        found[str(address)] = f"{speed:g} GT/s x{lanes}" if address in hcas else f"x{lanes}"
    return found


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
