# SPDX-License-Identifier: GPL-3.0-or-later
"""To which hosts a host.* check applies; who has no GPU, no HCA or no kernel of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from ..._ground.check import Check, skipped, unknown
from ..machine.facts import MELLANOX, NO_GPU, Machine, PciFunction

HOST = "host"
_HANDED_OVER = "vfio-pci"
# The observer's word for a mark of the sandbox that is there and cannot be read.
_UNREADABLE = "unreadable"
NO_HCA = "no RDMA HCA on the PCI bus"


@dataclass(frozen=True)
class Scope:
    """Why a check does not apply (``skip``), or why nobody can tell whether it does (``why``)."""

    skip: str = ""
    why: str = ""

    def judge(self, check_id: str, judge: Callable[[], list[Check]]) -> list[Check]:
        """What ``judge`` finds where the check applies."""
        if self.skip:
            return [skipped(check_id, HOST, self.skip)]
        if self.why:
            return [unknown(check_id, HOST, self.why)]
        return judge()

    def then(self, other: Scope) -> Scope:
        """Both must hold; a reason to skip counts more than not being able to tell."""
        return Scope(self.skip or other.skip, self.why or other.why)


def real(machine: Machine) -> Scope:
    """Leaves out nodes of a sandbox, whose kernel and hardware are another machine's."""
    if machine.simulated.startswith(_UNREADABLE):
        return Scope(why=machine.simulated)
    why = f"simulated node: {machine.simulated}; this is the machine's that runs it"
    return Scope(why if machine.simulated else "")


def with_kernel(machine: Machine) -> Scope:
    """Leaves out nodes of a sandbox without kernel modules and devices of their own."""
    if machine.simulated.startswith(_UNREADABLE):
        return Scope(why=machine.simulated)
    without = machine.without_hardware
    return Scope(f"simulated node: {without}" if without else "")


def outside_container(machine: Machine) -> Scope:
    """Leaves out containers: what is asked for belongs to the host that runs them."""
    return Scope(f"inside a container ({machine.holds_part})" if machine.holds_part else "")


def bare_metal(machine: Machine) -> Scope:
    """Leaves out virtual machines. Where nobody can tell, the host is judged as it is."""
    return Scope("a virtual machine: its hypervisor decides this" if machine.virtual.value else "")


def with_gpu(machine: Machine) -> Scope:
    """Only hosts with an NVIDIA GPU."""
    if machine.has_gpus is None:
        return Scope(why=machine.gpus.why or "nobody looked for GPUs")
    return Scope() if machine.has_gpus else Scope(NO_GPU)


def with_hca(machine: Machine) -> Scope:
    """Only hosts with an HCA that is theirs to use. Where nobody can tell, judged as it is."""
    found = hcas(machine)
    if found is None or found:
        return Scope()
    handed = [function for function in machine.functions if _is_rdma(function)]
    return Scope(f"every HCA is handed to virtual machines ({_HANDED_OVER})" if handed else NO_HCA)


def with_gpu_or_hca(machine: Machine) -> Scope:
    """Training nodes and what else is on their fabric."""
    gpu, hca = with_gpu(machine), with_hca(machine)
    return Scope(f"{gpu.skip}, {hca.skip}" if gpu.skip and hca.skip else "")


def hcas(machine: Machine) -> list[PciFunction] | None:
    """InfiniBand controllers and whatever Mellanox makes, management ports of NVLink switches too;
    None where the bus cannot be read. Other vendors' Ethernet ports are no reason to want RDMA."""
    if machine.pci.value is None:
        return None
    return [function for function in machine.functions if _is_rdma(function) and function.driver != _HANDED_OVER]


def _is_rdma(function: PciFunction) -> bool:
    return function.is_hca and (function.vendor == MELLANOX or function.class_code[:4] in ("0207", "0c06"))
