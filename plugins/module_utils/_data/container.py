# SPDX-License-Identifier: GPL-3.0-or-later
"""What a training container has to have, and what installs it in which image. Data only."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes of /dev/shm. NCCL's user guide (troubleshooting, shared memory) and NVIDIA's images ask for
# --shm-size=1g at least; docker's and containerd's own 64 MiB end in "unhandled system error" or
# "No space left on device". Confirmed.
SHM_LEAST = 1024**3
# CAP_IPC_LOCK in the kernel's sets of capabilities (linux/capability.h). Confirmed.
IPC_LOCK = 1 << 14
# RDMA libraries share one version, which their file names end in: libibverbs.so.1.14.50.0 is of
# rdma-core 50.0 (rdma-core, buildlib/rdma_functions.cmake). Confirmed.

# By the driver of the PCI function: the provider that libibverbs needs for it (rdma-core,
# providers/). Confirmed.
PROVIDERS = {"mlx5_core": "mlx5", "mlx4_core": "mlx4", "bnxt_en": "bnxt_re", "ice": "irdma", "efa": "efa"}
# That of soft RoCE (rdma_rxe), whose device is no PCI function. Confirmed.
SOFT_PROVIDER = "rxe"


@dataclass(frozen=True)
class TooOld:
    """Up to this release of rdma-core, user space was seen to fail on an HCA."""

    hca: str
    release: tuple[int, int]
    source: str
    confidence: str


# By PCI device id of the HCA.
TOO_OLD = {
    "1023": TooOld(
        "ConnectX-8",
        (50, 0),
        "field reports: libmlx5 of Ubuntu 24.04 (rdma-core 50) fails, doca-ofed-userspace does not",
        "medium",
    ),
}


@dataclass(frozen=True)
class Family:
    """Images of one family of distributions: what installs libibverbs and its providers."""

    ids: tuple[str, ...]
    verbs: str
    tools: str


# Package names of the distributions; confirmed by their package lists.
FAMILIES = (
    Family(
        ("debian", "ubuntu"),
        "apt-get install -y libibverbs1 ibverbs-providers librdmacm1",
        "apt-get install -y ibverbs-utils",
    ),
    Family(
        ("rhel", "fedora", "centos", "rocky", "almalinux", "amzn"),
        "dnf install -y libibverbs librdmacm",
        "dnf install -y libibverbs-utils",
    ),
    Family(
        ("suse", "opensuse", "sles"),
        "zypper install -y libibverbs1 libibverbs librdmacm1",
        "zypper install -y libibverbs-utils",
    ),
    Family(("alpine",), "apk add libibverbs librdmacm rdma-core", "apk add rdma-core"),
)
