# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether bus and drivers know of the same GPUs, HCAs and NVSwitches: no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.pcie import PASSED_ON
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed, outcome, skipped, unknown
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..machine.facts import NO_GPU, PciFunction
from .check_scope import CANNOT_TELL_VM, NEITHER, Scope

_GPU_DRIVER = "nvidia"
_DRIVER_UNKNOWN = "the evidence does not tell which driver is bound"
_MEND_DRIVER = "fix pci.gpu.driver first"
_SOME_OF_THEM = "a container may have been given some of the devices only"
_GONE = "drain the host; read in dmesg what came before it fell off the bus (Xid 79, `pcieport`, AER); boot anew"
_NO_SWITCH = "no NVSwitch on the PCI bus"


def judge_drivers(scope: Scope) -> Iterator[Check]:
    yield from _answers(scope)
    yield from _bound("pci.gpu.driver", "GPUs", scope.gpus, scope, scope.no_gpu)
    yield from _listed(scope)
    yield from _bound("pci.hca.driver", "HCAs", scope.hcas, scope, scope.no_hca)
    yield from _rdma(scope)
    yield from _virtual_functions(scope)
    yield from _bound("pci.nvswitch.driver", "NVSwitches", scope.switches, scope, _NO_SWITCH)
    yield _switch_count(scope)


def _answers(scope: Scope) -> list[Check]:
    tally = Tally("pci.device.answers", "functions")
    for device in (*scope.devices, *scope.switches):
        config = scope.facts.configs.get(device.address)
        if config is None or config.value is None:
            tally.unsure(device.address, config.why if config else "nobody looked")
        elif not config.value.answers:
            tally.fail(device.address, "reads as ones", f"vendor {device.vendor}", CAPABILITY)
        elif config.value.off and _in_use(device):
            tally.bad(_switched_off(device, config.value.off, scope))
        else:
            tally.good(device.address)
    return tally.checks("an answer", CAPABILITY, nothing=NEITHER)


def _in_use(function: PciFunction) -> bool:
    """A GPU or HCA that a driver of this host has switched on."""
    return not function.is_nvswitch and bool(function.driver) and function.driver not in PASSED_ON


def _switched_off(function: PciFunction, off: tuple[str, ...], scope: Scope) -> Check:
    seen = f"{' and '.join(off)} off"
    return failed(
        "pci.device.answers",
        function.address,
        seen,
        "both on under a driver",
        CAPABILITY,
        cause=f"{scope.name(function.address)} has {seen}: it was reset under its driver, or the driver gave up on it",
        remedy=f"look at `dmesg | grep {function.address}`; load the driver anew or boot the host",
    )


def _bound(check_id: str, unit: str, functions: tuple[PciFunction, ...], scope: Scope, nothing: str) -> list[Check]:
    tally = Tally(check_id, unit)
    for function in functions:
        wanted = _GPU_DRIVER if function.is_gpu else "a driver"
        if function.driver is None:
            tally.unsure(scope.name(function.address), _DRIVER_UNKNOWN)
        elif function.driver == _GPU_DRIVER or (
            not function.is_gpu and function.driver and function.driver not in PASSED_ON
        ):
            tally.good(function.address)
        else:
            cause = _why_not(function.driver)
            seen = function.driver or "no driver"
            tally.fail(function.address, seen, wanted, CAPABILITY, cause=cause)
    return tally.checks("bound to a driver", CAPABILITY, nothing=nothing)


def _why_not(driver: str) -> str:
    if driver in PASSED_ON:
        return Cause(
            f"{driver} holds it for a virtual machine or a user-space driver",
            "nothing is to be replaced: where this host is to use it itself, end the virtual machine and take the "
            "device out of what binds it at boot (`driverctl list-overrides`, vfio-pci.ids in the kernel command line)",
        )
    if driver == "nouveau":
        return Cause(
            "nouveau took it before the nvidia driver could (host.module.nouveau tells whether it is kept out)",
            "fix host.module.nouveau first",
        )
    if driver:
        return Cause(f"{driver} holds it", f"unload {driver} on the drained host, and keep it from loading at boot")
    return ""


def _listed(scope: Scope) -> list[Check]:
    tally = Tally("pci.gpu.listed", "GPUs")
    # An error status does not take back what was listed; but a GPU may be missing because of it.
    smi = scope.facts.smi if scope.facts.smi.known else scope.facts.smi_anyhow
    if not scope.gpus:
        return tally.checks(nothing=scope.no_gpu)
    if smi.value is None:
        tally.unsure("host", scope.facts.smi.why or "nobody looked")
        return tally.checks(nothing=scope.no_gpu)
    listed = {gpu.address: gpu for gpu in smi.value.gpus}
    said = dict(smi.value.unreachable)
    for gpu in scope.gpus:
        if gpu.address in listed:
            tally.good(gpu.address)
        elif scope.machine.holds_part:
            tally.left_out(gpu.address, _SOME_OF_THEM)
        elif gpu.driver != _GPU_DRIVER:
            tally.unsure(gpu.address, _MEND_DRIVER)
        else:
            tally.fail(
                gpu.address,
                "on the bus, not listed by nvidia-smi",
                "both",
                CAPABILITY,
                cause=_said_of(gpu.address, said),
            )
    known = {function.address for function in scope.machine.functions}
    for address in sorted(set(listed) - known):
        cause = Cause("it was taken off the bus under the driver: look for XID 79 in dmesg", _GONE)
        tally.fail(address, "listed by nvidia-smi, not on the bus", "both", CAPABILITY, cause=cause)
    if not scope.facts.smi.known:
        tally.unsure("nvidia-smi", scope.facts.smi.why)
    return tally.checks("on the bus and in nvidia-smi", CAPABILITY, nothing=scope.no_gpu)


def _said_of(address: str, said: dict[str, str]) -> str:
    # nvidia-smi writes the domain with four or eight digits, and the rest in either case.
    for bus_id, words in said.items():
        if bus_id.lower().endswith(address[5:]):
            return words
    return ""


def _rdma(scope: Scope) -> list[Check]:
    tally = Tally("pci.hca.rdma", "HCAs")
    rdma = scope.facts.rdma
    if rdma.value is None and not rdma.missing:
        tally.unsure("host", rdma.why or "nobody looked")
        return tally.checks(nothing=scope.no_hca)
    vague = [entry.name for entry in rdma.value or () if entry.address is None]
    for hca in scope.hcas:
        bonded = _bonded(hca, scope)
        if hca.address in scope.rdma or bonded.value:
            tally.good(hca.address)
        elif scope.machine.holds_part:
            tally.left_out(hca.address, _SOME_OF_THEM)
        elif hca.driver == "" or hca.driver in PASSED_ON:
            tally.unsure(hca.address, "fix pci.hca.driver first")
        elif bonded.value is None:
            tally.unsure(hca.address, bonded.why or "nobody looked whether it is in a bond")
        elif vague:
            tally.unsure(hca.address, f"the evidence does not tell which function {vague[0]} is")
        else:
            tally.bad(_without_rdma(hca, rdma.missing))
    known = {function.address for function in scope.machine.functions}
    for device in scope.rdma.values():
        if device.address not in known:
            seen = f"{device.name} at {device.address}, which is not on the bus"
            cause = Cause("the HCA was taken off the bus under its driver", _GONE)
            tally.fail(device.name, seen, "on the bus", CAPABILITY, cause=cause)
    return tally.checks("an RDMA device each", CAPABILITY, nothing=scope.no_hca)


def _bonded(function: PciFunction, scope: Scope) -> Reading[bool]:
    """Two Ethernet ports in a bond are one RDMA device, which belongs to the first of them."""
    card = function.address[:-1]
    others = [entry for entry in scope.rdma if entry[:-1] == card]
    if function.class_code[:4] != "0200" or not others:
        return Reading(False)
    mine = scope.facts.bonds.get(function.address, Reading())
    theirs = [scope.facts.bonds.get(other, Reading()) for other in others]
    if mine.value and any(their.value == mine.value for their in theirs):
        return Reading(True)
    if mine.value == "":
        return Reading(False)
    lost = next((their for their in (mine, *theirs) if not their.known), None)
    return Reading(None, lost.why) if lost else Reading(False)


def _without_rdma(function: PciFunction, no_class: bool) -> Check:
    cause = "the kernel's RDMA core is not loaded (no /sys/class/infiniband)" if no_class else ""
    seen = f"no RDMA device (driver {function.driver or 'not told'})"
    return failed("pci.hca.rdma", function.address, seen, "an RDMA device", CAPABILITY, cause=cause)


def _virtual_functions(scope: Scope) -> list[Check]:
    tally = Tally("pci.hca.vfs", "HCAs")
    made = [function for function in scope.machine.functions if function.virtual]
    lost = any(not entry.physical for entry in made)
    for hca in scope.hcas:
        wanted = scope.facts.vfs.get(hca.address)
        if wanted is None or wanted.value is None:
            if wanted is not None and wanted.missing:
                tally.left_out(hca.address, "no SR-IOV")
            else:
                tally.unsure(hca.address, wanted.why if wanted else "nobody looked")
            continue
        count = sum(other.physical == hca.address for other in made)
        if count == wanted.value:
            tally.good(hca.address)
        elif lost:
            tally.unsure(hca.address, "the evidence does not tell whose virtual functions these are")
        else:
            seen, due = f"{count} virtual functions", f"{wanted.value} (sriov_numvfs)"
            tally.fail(hca.address, seen, due, CAPABILITY)
    return tally.checks("as many as sriov_numvfs says", CAPABILITY, nothing=scope.no_hca)


def _switch_count(scope: Scope) -> Check:
    check_id, board = "pci.nvswitch.count", scope.machine.board
    if not scope.machine.cards:
        return skipped(check_id, "host", NO_GPU)
    if board is None or not board.nvswitches:
        return skipped(check_id, "host", "no board with NVSwitches on the PCI bus")
    count = sum(switch.device == board.nvswitch for switch in scope.switches)
    if not count and scope.machine.virtual.value is None:
        return unknown(check_id, "host", f"{CANNOT_TELL_VM}: {scope.machine.virtual.why}")
    if not count and scope.machine.virtual.value:
        return skipped(check_id, "host", "the hypervisor keeps the NVSwitches to itself")
    return outcome(count >= board.nvswitches, check_id, "host", count, board.nvswitches, f"profile {board.name}")
