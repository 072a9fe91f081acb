# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ways of GPUDirect RDMA a host offers, and which of them an NCCL release sees; no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._data import gpudirect
from ..._ground.reading import Reading
from ..._parse.version_text import numbers
from ..machine.facts import Machine
from .facts import StackFacts


@dataclass(frozen=True)
class Ways:
    """``dmabuf``: what keeps DMA-BUF from working, "" if nothing does. ``clients``: those of
    nvidia-peermem's kind that are registered with the RDMA stack. ``modules``: those that are
    loaded, whatever they can do."""

    dmabuf: Reading[str] = field(default_factory=Reading)
    clients: Reading[tuple[str, ...]] = field(default_factory=Reading)
    modules: Reading[tuple[str, ...]] = field(default_factory=Reading)

    @property
    def working(self) -> tuple[str, ...]:
        """Those that surely work, by what NCCL knows them by."""
        ways = [gpudirect.DMABUF] if self.dmabuf.value == "" else []
        return (*ways, *(self.clients.value or ()))

    @property
    def shown(self) -> tuple[str, ...]:
        """The same with nvidia_peermem's module, which newer releases look for."""
        loaded = self.modules.value or ()
        module = self.clients.value and loaded[:1] == gpudirect.PEERMEM_MODULES[:1]
        return (*self.working, *((gpudirect.MODULE,) if module else ()))


def ways(facts: StackFacts, machine: Machine) -> Ways:
    """What this host offers, as far as it could be seen."""
    clients = facts.peer.clients.map(lambda found: tuple(client for client in gpudirect.CLIENTS if client in found))
    return Ways(_dmabuf(facts, machine), clients, facts.peer.modules)


def seen(offered: Ways, nccl: tuple[int, ...]) -> list[str]:
    """Those of the ways that work which NCCL of this release looks for."""
    return [
        sight.sign
        for sight in gpudirect.SIGHTS
        if sight.sign in offered.shown and nccl >= sight.first and (not sight.end or nccl < sight.end)
    ]


def _dmabuf(facts: StackFacts, machine: Machine) -> Reading[str]:
    if facts.driver.value is None:
        return Reading(None, facts.driver.why, facts.driver.missing)
    if machine.kernel.value is None:
        return Reading(None, machine.kernel.why)
    driver, kernel = facts.driver.value, numbers(machine.kernel.value)[:2]
    if not driver.open:
        return Reading("the proprietary kernel modules of the NVIDIA driver have no DMA-BUF")
    if kernel < gpudirect.DMABUF_KERNEL:
        return Reading(f"kernel {machine.kernel.value} is too old for DMA-BUF")
    if numbers(driver.version)[:1] < gpudirect.DMABUF_DRIVER:
        return Reading(f"driver {driver.version} is too old for DMA-BUF")
    return Reading("")
