# SPDX-License-Identifier: GPL-3.0-or-later
"""What a training container has to have, and what installs it in which image (container.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load, load_by_key
from ._rows import container as rows

# Bytes of /dev/shm. NCCL's user guide (troubleshooting, shared memory) and NVIDIA's images ask for
# --shm-size=1g at least; docker's and containerd's own 64 MiB end in "unhandled system error" or
# "No space left on device". Confirmed.
SHM_LEAST = 1024**3
# CAP_IPC_LOCK in the kernel's sets of capabilities (linux/capability.h). Confirmed.
IPC_LOCK = 1 << 14
# RDMA libraries share one version, which their file names end in: libibverbs.so.1.14.50.0 is of
# rdma-core 50.0 (rdma-core, buildlib/rdma_functions.cmake). Confirmed.

PROVIDERS: dict[str, str] = rows.PROVIDERS
# That of soft RoCE (rdma_rxe), whose device is no PCI function. Confirmed.
SOFT_PROVIDER = "rxe"


@dataclass(frozen=True)
class TooOld:
    """Up to this release of rdma-core, user space was seen to fail on an HCA."""

    hca: str
    release: tuple[int, int]
    source: str
    confidence: str


TOO_OLD: dict[str, TooOld] = load_by_key(TooOld, rows.TOO_OLD)


@dataclass(frozen=True)
class Family:
    """Images of one family of distributions: what installs libibverbs and its providers."""

    ids: tuple[str, ...]
    verbs: str
    tools: str


FAMILIES: tuple[Family, ...] = load(Family, rows.FAMILIES)
