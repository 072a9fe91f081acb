# SPDX-License-Identifier: GPL-3.0-or-later
"""Which functions the pci.* checks are about, and what is known of each of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..._data.pcie import PASSED_ON
from ..._expect.expectations import Expectations
from ..machine.facts import MELLANOX, NO_GPU, Machine, PciFunction
from .facts import PciFacts, Rdma

NO_HCA = "no HCA on the PCI bus"
NEITHER = "neither an NVIDIA GPU nor an HCA on the PCI bus"
HANDED_OVER = "every {} is handed to virtual machines"
IN_VM = "a virtual machine shows one end of the link only; the other is the hypervisor's"
CANNOT_TELL_VM = "cannot tell whether this is a virtual machine"


@dataclass(frozen=True)
class Scope:
    """``hcas``: InfiniBand controllers, and Ethernet ones that are NVIDIA's or do RDMA.

    ``rdma``: RDMA devices by the address of the PCI function behind them. ``no_gpu``, ``no_hca``:
    why there is nothing to judge, where there is not.
    """

    facts: PciFacts
    machine: Machine
    gpus: tuple[PciFunction, ...]
    hcas: tuple[PciFunction, ...]
    switches: tuple[PciFunction, ...]
    rdma: dict[str, Rdma]
    no_gpu: str = NO_GPU
    no_hca: str = NO_HCA

    @property
    def devices(self) -> tuple[PciFunction, ...]:
        """GPUs and HCAs."""
        return (*self.gpus, *self.hcas)

    def name(self, address: str) -> str:
        """``mlx5_3 (0000:5e:00.0)``, or the address alone."""
        device = self.rdma.get(address)
        return f"{device.name} ({address})" if device else address


def scope(facts: PciFacts, machine: Machine, expect: Expectations) -> Scope:
    """Leave out what the inventory ignores, by address or RDMA device, and other people's NICs."""
    rdma = {entry.address: entry for entry in facts.rdma.value or () if entry.address}
    gpus = [card for card in machine.cards if not expect.ignores(card.address)]
    hcas = [
        hca
        for hca in machine.hcas
        if (_always_hca(hca) or hca.address in rdma) and not expect.ignores(hca.address, *_names(rdma, hca.address))
    ]
    return Scope(
        facts,
        machine,
        () if _handed_over(gpus) else tuple(gpus),
        () if _handed_over(hcas) else tuple(hcas),
        tuple(function for function in machine.functions if function.is_nvswitch),
        rdma,
        HANDED_OVER.format("GPU") if _handed_over(gpus) else NO_GPU,
        HANDED_OVER.format("HCA") if _handed_over(hcas) else NO_HCA,
    )


def root_bus(function: PciFunction) -> str:
    """The bus of its root port, "" where that cannot be told: what is below one is on one NUMA node."""
    return function.path[0].rpartition(":")[0] if len(function.path) > 1 else ""


def _handed_over(functions: list[PciFunction]) -> bool:
    """All of them: a hypervisor. A single one that is not free is a finding."""
    return bool(functions) and all(function.driver in PASSED_ON for function in functions)


def _always_hca(function: PciFunction) -> bool:
    """An Ethernet controller of another vendor is an HCA only where it does RDMA."""
    return function.vendor == MELLANOX or function.class_code[:4] != "0200"


def _names(rdma: dict[str, Rdma], address: str) -> list[str]:
    return [rdma[address].name] if address in rdma else []
