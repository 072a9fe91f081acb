# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what PCI configuration space says: request and payload sizes, ACS; no I/O."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._checks._tally import Tally
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_scope import (
    CANNOT_TELL_VM,
    NEITHER,
    Scope,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpus import SUPERCHIP
from ansible_collections.ibready.cluster.plugins.module_utils._data.pcie import (
    ACS_REDIRECTS,
    HCA_READ_REQUEST,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import MELLANOX
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_config import Config

_IN_VM = "a virtual machine sees the hypervisor's own registers"
_KEEP_ACS = "a virtual machine keeps ACS, and lets addresses be translated (ATS)"
_GRACE = "on Grace, ACS is set as NVIDIA's guide says (rdma_topo), not cleared"
_NOT_SHARED = "no GPU shares a PCIe switch with an HCA or another GPU"
_NO_PATH = "the evidence does not tell which bridges lie above it"
_ROOT_ONLY = "only the header could be read: run as root"


def judge_config(scope: Scope) -> Iterator[Check]:
    yield from _read_request(scope)
    yield from _payload(scope)
    yield from _acs(scope)


def _read_request(scope: Scope) -> list[Check]:
    tally = Tally("pci.hca.read_request", "HCAs")
    for one in scope.hcas:
        size = _express(scope, one.address, lambda config: config.max_read_request)
        if one.vendor != MELLANOX:
            tally.left_out(one.address, "its vendor recommends no size")
        elif scope.machine.virtual.value:
            tally.left_out(one.address, _IN_VM)
        elif size.value is None:
            tally.unsure(scope.name(one.address), size.why)
        elif size.value >= HCA_READ_REQUEST:
            tally.good(one.address)
        elif scope.machine.virtual.value is None:
            tally.unsure(scope.name(one.address), CANNOT_TELL_VM)
        else:
            tally.bad(
                failed(
                    tally.id,
                    one.address,
                    f"{size.value} bytes",
                    f"{HCA_READ_REQUEST} bytes",
                    CAPABILITY,
                    cause=f"MaxReadReq of {scope.name(one.address)} is {size.value} bytes",
                    remedy=f"setpci -s {one.address} CAP_EXP+8.w=5000:7000, after every boot",
                )
            )
    return tally.checks(f"{HCA_READ_REQUEST} bytes", CAPABILITY, nothing=scope.no_hca)


def _payload(scope: Scope) -> list[Check]:
    tally = Tally("pci.path.max_payload", "paths")
    for one in scope.devices:
        if scope.machine.virtual.value:
            tally.left_out(one.address, _IN_VM)
            continue
        if not one.path:
            tally.unsure(scope.name(one.address), _NO_PATH)
            continue
        sizes = {at: _express(scope, at, lambda config: config.max_payload) for at in one.path}
        lost = next((f"{at}: {size.why}" for at, size in sizes.items() if size.value is None), "")
        found = {at: size.value for at, size in sizes.items()}
        if lost:
            tally.unsure(scope.name(one.address), lost)
        elif len(set(found.values())) == 1:
            tally.good(one.address)
        elif scope.machine.virtual.value is None:
            tally.unsure(scope.name(one.address), CANNOT_TELL_VM)
        else:
            seen = ", ".join(f"{at} {size} bytes" for at, size in found.items())
            cause = f"MaxPayload differs on the way down to {scope.name(one.address)}"
            due = "the same on the whole path"
            tally.bad(failed(tally.id, one.address, seen, due, CAPABILITY, cause=cause))
    return tally.checks("one size on each", CAPABILITY, nothing=NEITHER)


def _acs(scope: Scope) -> list[Check]:
    tally = Tally("pci.bridge.acs", "switch ports")
    if not scope.gpus:
        return tally.checks(nothing=scope.no_gpu)
    if scope.machine.virtual.value:
        tally.left_out("host", _KEEP_ACS)
        return tally.checks(nothing=scope.no_gpu)
    if any(gpu and gpu.form == SUPERCHIP for gpu in scope.machine.gpus.value or ()):
        tally.left_out("host", _GRACE)
        return tally.checks(nothing=scope.no_gpu)
    for one in scope.devices:
        if not one.path:
            tally.unsure(scope.name(one.address), _NO_PATH)
    for port, below in _turning_ports(scope).items():
        config = scope.facts.configs.get(port, Reading())
        if config.value is None or not config.value.extended:
            tally.unsure(port, config.why or _ROOT_ONLY)
            continue
        bits = [name for bit, name in ACS_REDIRECTS.items() if (config.value.acs or 0) & bit]
        if not bits:
            tally.good(port)
        elif scope.machine.virtual.value is None:
            tally.unsure(port, CANNOT_TELL_VM)
        else:
            what = ", ".join(scope.name(address) for address in below)
            cause = (
                f"{port} sends what is for its neighbours up to the processor "
                f"({', '.join(bits)}); below it: {what}"
            )
            seen = "+ ".join(bits) + "+"
            tally.bad(failed(tally.id, port, seen, "all cleared", CAPABILITY, cause=cause))
    return tally.checks("ACS cleared", CAPABILITY, nothing=_NOT_SHARED)


def _turning_ports(scope: Scope) -> dict[str, list[str]]:
    """The switch ports at which traffic of a GPU turns around to a neighbour, and who is below.

    Paths run root port, upstream port, downstream port, ... device: where two of them part below
    an upstream port, a switch can hand over directly.
    """
    found: dict[str, list[str]] = {}
    for one, other in combinations([one for one in scope.devices if one.path], 2):
        if not (one.is_gpu or other.is_gpu):
            continue
        shared = 0
        while one.path[shared] == other.path[shared]:
            shared += 1
            if shared == min(len(one.path), len(other.path)):
                break
        if shared < 2 or shared % 2 or shared >= min(len(one.path), len(other.path)) - 1:
            continue
        for each in (one, other):
            below = found.setdefault(each.path[shared], [])
            if each.address not in below:
                below.append(each.address)
    return found


def _express(scope: Scope, address: str, what: Callable[[Config], int | None]) -> Reading[int]:
    """A size from the PCI Express capability, or why it could not be read."""
    config = scope.facts.configs.get(address, Reading())
    if config.value is None:
        return Reading(None, config.why or "nobody looked")
    if not config.value.answers:
        return Reading(None, "it does not answer")
    size = what(config.value)
    if size is not None:
        return Reading(size)
    return Reading(None, _ROOT_ONLY if config.value.header_only else "no PCI Express capability")
