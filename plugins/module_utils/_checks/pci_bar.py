# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the firmware gave the GPUs the address space that they ask for: no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils import _profiles
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._checks._tally import Tally
from ansible_collections.ibready.cluster.plugins.module_utils._checks.pci_scope import (
    Scope,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.gpus import SXM
from ansible_collections.ibready.cluster.plugins.module_utils._data.pcie import (
    FOUR_GIB,
    SMALLEST_GPU_BAR,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_resource import Bar

_IN_VM = "a virtual machine's address space is the hypervisor's"
_MEND_BAR = "mend pci.gpu.bar first"
_MIB = 1024 * 1024


def judge_bars(scope: Scope) -> Iterator[Check]:
    assigned = Tally("pci.gpu.bar", "GPUs")
    above = Tally("pci.gpu.above_4g", "GPUs")
    size = Tally("pci.gpu.bar_size", "GPUs")
    for one in scope.gpus:
        bars = scope.facts.bars.get(one.address, Reading())
        if bars.value is None:
            for tally in (assigned, above, size):
                tally.unsure(one.address, bars.why or "nobody looked")
            continue
        bar = _memory(bars.value)
        if bar is None:
            seen = _told(bars.value)
            assigned.bad(failed(assigned.id, one.address, seen, "an address", CAPABILITY))
            above.unsure(one.address, _MEND_BAR)
            size.unsure(one.address, _MEND_BAR)
            continue
        assigned.good(one.address)
        _above(above, one, bar, scope)
        _size(size, one, bar, scope)
    yield from assigned.checks("an address", CAPABILITY, nothing=scope.no_gpu)
    yield from above.checks("above 4 GiB", CAPABILITY, nothing=scope.no_gpu)
    yield from size.checks("all of the GPU's memory", CAPABILITY, nothing=scope.no_gpu)


def _memory(bars: tuple[Bar, ...]) -> Bar | None:
    """The BAR through which the GPU shows its memory; None where it has no address."""
    found = [one for one in bars if one.assigned and one.size >= SMALLEST_GPU_BAR]
    lost = any(not one.assigned and one.size >= SMALLEST_GPU_BAR for one in bars)
    return None if lost or not found else max(found, key=lambda one: one.size)


def _told(bars: tuple[Bar, ...]) -> str:
    lost = [one.size for one in bars if not one.assigned and one.size >= SMALLEST_GPU_BAR]
    if lost:
        return f"its BAR of {_size_of(max(lost))} has no address"
    most = max((one.size for one in bars), default=0)
    return f"no BAR of 256 MiB or more, the largest is {_size_of(most)}"


def _above(tally: Tally, gpu: PciFunction, bar: Bar, scope: Scope) -> None:
    if scope.machine.virtual.value:
        tally.left_out(gpu.address, _IN_VM)
    elif bar.start >= FOUR_GIB:
        tally.good(gpu.address)
    else:
        seen = f"{_size_of(bar.size)} at 0x{bar.start:x}"
        tally.bad(failed(tally.id, gpu.address, seen, "above 4 GiB", CAPABILITY))


def _size(tally: Tally, gpu: PciFunction, bar: Bar, scope: Scope) -> None:
    """Only boards of the data centre show all of their memory, whatever the firmware."""
    model = _profiles.gpu_by_id(gpu.device)
    if model is None or model.form != SXM:
        tally.left_out(gpu.address, "only SXM boards show all of their memory")
        return
    if scope.machine.virtual.value:
        tally.left_out(gpu.address, _IN_VM)
        return
    smi = scope.facts.smi_anyhow
    told = [one for one in smi.value.gpus if one.address == gpu.address] if smi.value else []
    if not told:
        tally.unsure(gpu.address, smi.why or "mend pci.gpu.listed first")
    elif told[0].memory_total_mib is None:
        tally.left_out(gpu.address, "nvidia-smi shows no memory size")
    elif bar.size >= told[0].memory_total_mib * _MIB:
        tally.good(gpu.address)
    else:
        seen, due = _size_of(bar.size), _size_of(told[0].memory_total_mib * _MIB)
        tally.bad(failed(tally.id, gpu.address, seen, f"at least {due}", CAPABILITY))


def _size_of(size: int) -> str:
    return f"{size // _MIB} MiB" if size < 1024 * _MIB else f"{size / (1024 * _MIB):g} GiB"
