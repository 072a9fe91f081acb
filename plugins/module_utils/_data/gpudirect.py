# SPDX-License-Identifier: GPL-3.0-or-later
"""What the two ways of GPUDirect RDMA need, and which NCCL sees which of them. Data only.

Sources: NVIDIA's GPU Operator guide (table of DMA-BUF against nvidia-peermem), the driver's
nvidia-peermem source, NCCL's own look for the files below, by release. Confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass

# DMA-BUF: the open kernel modules, this kernel, and a driver with CUDA 11.7.
DMABUF_KERNEL = (5, 12)
DMABUF_DRIVER = (515,)

# nvidia-peermem, and the module that came before it.
PEERMEM_MODULES = ("nvidia_peermem", "nv_peer_mem")
# The function that an RDMA stack must export before the NVIDIA modules are built.
PEERMEM_SYMBOL = "ib_register_peer_memory_client"
# Where a vendor's stack leaves the list of what it exports.
SYMBOL_LISTS = (
    "/usr/src/ofa_kernel/default/Module.symvers",
    "/usr/src/ofa_kernel/x86_64/{kernel}/Module.symvers",
    "/usr/src/ofa_kernel/aarch64/{kernel}/Module.symvers",
)

MEMORY_PEERS = "/sys/kernel/mm/memory_peers"
# Where a lock's ``peer_memory`` says why it is without: the variable of the site, or GPUs that no HCA reaches.
ACCEPTED = "accepted"
DMABUF = "DMA-BUF"
MODULE = "module"


@dataclass(frozen=True)
class Sight:
    """NCCL from release ``first`` up to before ``end`` takes GPUDirect as there by ``sign``: a
    client in MEMORY_PEERS, DMABUF, or MODULE (nvidia_peermem is loaded, whatever it can do)."""

    sign: str
    first: tuple[int, ...]
    end: tuple[int, ...] = ()


SIGHTS = (
    Sight("nv_mem", (0,)),
    Sight("nvidia-peermem", (2, 9, 8), (2, 22)),
    Sight("nv_mem_nc", (2, 22, 3)),
    Sight(MODULE, (2, 23, 4)),
    Sight(DMABUF, (2, 13)),
)
CLIENTS = tuple(sight.sign for sight in SIGHTS if sight.sign not in (DMABUF, MODULE))
