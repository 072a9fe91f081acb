# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what PCI configuration space says: request and payload sizes, ACS; no I/O."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator

from ..._data.gpus import SUPERCHIP
from ..._data.pcie import ACS_REDIRECTS, HCA_READ_REQUEST
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check
from ..._ground.equals import compare
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..._parse.pci_config import Config
from ..machine.facts import MELLANOX
from .check_scope import CANNOT_TELL_VM, NEITHER, Scope, root_bus

_IN_VM = "a virtual machine sees the hypervisor's own registers"
_KEEP_ACS = "a virtual machine keeps ACS, and lets addresses be translated (ATS)"
_GRACE = "on Grace, ACS is set as NVIDIA's guide says (rdma_topo), not cleared"
_NOT_SHARED = "no GPU shares a PCIe switch with an HCA or another GPU"
_NO_PATH = "the evidence does not tell which bridges lie above it"
_ASPM = {1: "L0s", 2: "L1", 3: "L0s and L1"}
_AWAKE = (
    "switch ASPM off in the BIOS, or start the kernel with pcie_aspm.policy=performance, without pcie_aspm=force; "
    "until then `setpci -s {} CAP_EXP+10.w=0:3`"
)
_ROOT_ONLY = "only the header could be read: run as root"


def judge_config(scope: Scope) -> Iterator[Check]:
    yield from _read_request(scope)
    yield from _sleep(scope)
    yield from _payload(scope)
    yield from _acs(scope)


def _read_request(scope: Scope) -> list[Check]:
    tally = Tally("pci.hca.read_request", "HCAs")
    for hca in scope.hcas:
        size = _express(scope, hca.address, lambda config: config.max_read_request)
        if hca.vendor != MELLANOX:
            tally.left_out(hca.address, "its vendor recommends no size")
        elif scope.machine.virtual.value:
            tally.left_out(hca.address, _IN_VM)
        elif size.value is None:
            tally.unsure(scope.name(hca.address), size.why)
        elif size.value >= HCA_READ_REQUEST:
            tally.good(hca.address)
        elif scope.machine.virtual.value is None:
            tally.unsure(scope.name(hca.address), CANNOT_TELL_VM)
        else:
            tally.fail(
                hca.address,
                f"{size.value} bytes",
                f"{HCA_READ_REQUEST} bytes",
                CAPABILITY,
                cause=f"MaxReadReq of {scope.name(hca.address)} is {size.value} bytes",
                remedy=f"setpci -s {hca.address} CAP_EXP+8.w=5000:7000, after every boot",
            )
    return tally.checks(f"{HCA_READ_REQUEST} bytes", CAPABILITY, nothing=scope.no_hca)


def _sleep(scope: Scope) -> list[Check]:
    """Whether the link of an HCA may sleep between transfers."""
    tally = Tally("pci.hca.aspm", "HCAs")
    for hca in scope.hcas:
        states = _express(scope, hca.address, lambda config: config.aspm)
        if scope.machine.virtual.value:
            tally.left_out(hca.address, _IN_VM)
        elif states.value is None:
            tally.unsure(scope.name(hca.address), states.why)
        elif states.value and scope.machine.virtual.value is None:
            tally.unsure(scope.name(hca.address), CANNOT_TELL_VM)
        elif states.value:
            seen = f"ASPM {_ASPM[states.value]} enabled"
            tally.fail(hca.address, seen, "disabled", CAPABILITY, remedy=_AWAKE.format(hca.address))
        else:
            tally.good(hca.address)
    return tally.checks("ASPM disabled", CAPABILITY, nothing=scope.no_hca)


def _payload(scope: Scope) -> list[Check]:
    tally = Tally("pci.path.max_payload", "paths")
    for device in scope.devices:
        if scope.machine.virtual.value:
            tally.left_out(device.address, _IN_VM)
            continue
        if not device.path:
            tally.unsure(scope.name(device.address), _NO_PATH)
            continue
        sizes = {at: _express(scope, at, lambda config: config.max_payload) for at in device.path}
        lost = next((f"{at}: {size.why}" for at, size in sizes.items() if size.value is None), "")
        found = {at: size.value for at, size in sizes.items()}
        if lost:
            tally.unsure(scope.name(device.address), lost)
        elif len(set(found.values())) == 1:
            tally.good(device.address)
        elif scope.machine.virtual.value is None:
            tally.unsure(scope.name(device.address), CANNOT_TELL_VM)
        else:
            seen = ", ".join(f"{at} {size} bytes" for at, size in found.items())
            cause = f"MaxPayload differs on the way down to {scope.name(device.address)}"
            tally.fail(device.address, seen, "the same on the whole path", CAPABILITY, cause=cause)
    _equal_payload(tally, scope)
    return tally.checks("one size on each", CAPABILITY, nothing=NEITHER)


def _equal_payload(tally: Tally, scope: Scope) -> None:
    """Equal functions in equal places: a whole path of smaller packets agrees with itself."""
    if scope.machine.virtual.value is not False:
        return
    beside = {root_bus(gpu) for gpu in scope.gpus}
    found = compare(
        {
            device.address: str(_express(scope, device.address, lambda config: config.max_payload).value or "")
            for device in scope.devices
        },
        {device.address: (device.device, len(device.path), root_bus(device) in beside) for device in scope.devices},
    )
    for address, odd in found.odd.items():
        if int(odd.value) < int(odd.usual) and not tally.is_bad(address):
            cause = f"{scope.name(address)} and the bridges above it use smaller packets than its equals"
            seen, due = f"{odd.value} bytes", f"{odd.usual} bytes"
            tally.fail(address, seen, due, odd.source, cause=cause)


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
    for device in scope.devices:
        if not device.path:
            tally.unsure(scope.name(device.address), _NO_PATH)
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
            cause = f"{port} sends what is for its neighbours up to the processor ({', '.join(bits)}); below it: {what}"
            seen = "+ ".join(bits) + "+"
            tally.fail(port, seen, "all cleared", CAPABILITY, cause=cause)
    return tally.checks("ACS cleared", CAPABILITY, nothing=_NOT_SHARED)


def _turning_ports(scope: Scope) -> dict[str, list[str]]:
    """The switch ports at which traffic of a GPU turns around to a neighbour, and who is below.

    Paths run root port, upstream port, downstream port, ... device: where two of them part below
    an upstream port, a switch can hand over directly.
    """
    found: dict[str, list[str]] = {}
    for pair, other in combinations([device for device in scope.devices if device.path], 2):
        if not (pair.is_gpu or other.is_gpu):
            continue
        shared = 0
        while pair.path[shared] == other.path[shared]:
            shared += 1
            if shared == min(len(pair.path), len(other.path)):
                break
        if shared < 2 or shared % 2 or shared >= min(len(pair.path), len(other.path)) - 1:
            continue
        for function in (pair, other):
            below = found.setdefault(function.path[shared], [])
            if function.address not in below:
                below.append(function.address)
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
