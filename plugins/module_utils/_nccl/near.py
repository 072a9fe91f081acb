# SPDX-License-Identifier: GPL-3.0-or-later
"""How far two PCI functions are from each other, in the words of NCCL and nvidia-smi."""

from __future__ import annotations

from typing import Iterable

from .._areas.machine.facts import PciFunction

PIX, PXB, PHB, NODE, SYS = "PIX", "PXB", "PHB", "NODE", "SYS"
# From near to far; behind one PCIe switch is what GPUDirect RDMA is made for.
WORDS = (PIX, PXB, PHB, NODE, SYS)
BY_SWITCH = (PIX, PXB)
# A function and the switch port above it.
_ONE_SWITCH = 2


def nearest(function: PciFunction, others: Iterable[PciFunction]) -> str:
    """The distance to the nearest of the others; "" where that of one cannot be told."""
    found = [distance(function, other) for other in others]
    return min(found, key=WORDS.index) if found and all(found) else ""


def distance(function: PciFunction, other: PciFunction) -> str:
    """PIX: one PCIe switch; PXB: several; PHB: one host bridge; NODE: one NUMA node, or nobody tells
    either of them, which is one to NCCL; SYS: beyond; "" where a path is not known."""
    if not function.path or not other.path:
        return ""
    shared = 0
    for mine, theirs in zip(function.path, other.path):
        if mine != theirs:
            break
        shared += 1
    if shared:
        below = max(len(function.path), len(other.path)) - shared
        return PIX if below <= _ONE_SWITCH else PXB
    if _bus(function) == _bus(other):
        return PHB
    return NODE if function.numa_node == other.numa_node else SYS


def _bus(function: PciFunction) -> str:
    """Domain and bus of the root port: 0000:10 of 0000:10:01.0."""
    return function.path[0].rpartition(":")[0]
