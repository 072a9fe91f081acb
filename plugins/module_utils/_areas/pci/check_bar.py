# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether the firmware gave the GPUs the address space that they ask for: no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._data.gpus import SXM
from ..._data.pcie import FOUR_GIB, SMALLEST_GPU_BAR
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..._parse.pci_resource import Bar
from ..machine.facts import PciFunction
from .check_scope import Scope

_IN_VM = "a virtual machine's address space is the hypervisor's"
_MEND_BAR = "fix pci.gpu.bar first"
_MIB = 1024 * 1024


def judge_bars(scope: Scope) -> Iterator[Check]:
    assigned = Tally("pci.gpu.bar", "GPUs")
    above = Tally("pci.gpu.above_4g", "GPUs")
    size = Tally("pci.gpu.bar_size", "GPUs")
    for gpu in scope.gpus:
        bars = scope.facts.bars.get(gpu.address, Reading())
        if bars.value is None:
            for tally in (assigned, above, size):
                tally.unsure(gpu.address, bars.why or "nobody looked")
            continue
        region = _memory(bars.value)
        if region is None:
            seen = _told(bars.value)
            assigned.fail(gpu.address, seen, "an address", CAPABILITY)
            above.unsure(gpu.address, _MEND_BAR)
            size.unsure(gpu.address, _MEND_BAR)
            continue
        assigned.good(gpu.address)
        _above(above, gpu, region, scope)
        _size(size, gpu, region, scope)
    yield from assigned.checks("an address", CAPABILITY, nothing=scope.no_gpu)
    yield from above.checks("above 4 GiB", CAPABILITY, nothing=scope.no_gpu)
    yield from size.checks("all of the GPU's memory", CAPABILITY, nothing=scope.no_gpu)


def _memory(bars: tuple[Bar, ...]) -> Bar | None:
    """The BAR through which the GPU shows its memory; None where it has no address."""
    found = [region for region in bars if region.assigned and region.size >= SMALLEST_GPU_BAR]
    lost = any(not region.assigned and region.size >= SMALLEST_GPU_BAR for region in bars)
    return None if lost or not found else max(found, key=lambda item: item.size)


def _told(bars: tuple[Bar, ...]) -> str:
    lost = [region.size for region in bars if not region.assigned and region.size >= SMALLEST_GPU_BAR]
    if lost:
        return f"its BAR of {_size_of(max(lost))} has no address"
    most = max((region.size for region in bars), default=0)
    return f"no BAR of 256 MiB or more, the largest is {_size_of(most)}"


def _above(tally: Tally, gpu: PciFunction, region: Bar, scope: Scope) -> None:
    if scope.machine.virtual.value:
        tally.left_out(gpu.address, _IN_VM)
    elif region.start >= FOUR_GIB:
        tally.good(gpu.address)
    else:
        tally.fail(gpu.address, f"{_size_of(region.size)} at 0x{region.start:x}", "above 4 GiB", CAPABILITY)


def _size(tally: Tally, gpu: PciFunction, region: Bar, scope: Scope) -> None:
    """Only boards of the data centre show all of their memory, whatever the firmware."""
    model = profiles.gpu_by_id(gpu.device)
    if model is None or model.form != SXM:
        tally.left_out(gpu.address, "only SXM boards show all of their memory")
        return
    if scope.machine.virtual.value:
        tally.left_out(gpu.address, _IN_VM)
        return
    smi = scope.facts.smi_anyhow
    reported = [entry for entry in smi.value.gpus if entry.address == gpu.address] if smi.value else []
    if not reported:
        tally.unsure(gpu.address, smi.why or "fix pci.gpu.listed first")
    elif reported[0].memory_total_mib is None:
        tally.left_out(gpu.address, "nvidia-smi shows no memory size")
    elif region.size >= reported[0].memory_total_mib * _MIB:
        tally.good(gpu.address)
    else:
        seen, due = _size_of(region.size), _size_of(reported[0].memory_total_mib * _MIB)
        tally.fail(gpu.address, seen, f"at least {due}", CAPABILITY)


def _size_of(size: int) -> str:
    return f"{size // _MIB} MiB" if size < 1024 * _MIB else f"{size / (1024 * _MIB):g} GiB"
