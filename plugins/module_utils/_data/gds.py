# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect Storage: the ways that data goes, and which file system has which. Data only.

Sources: NVIDIA's GPUDirect Storage troubleshooting guide and release notes (1.16: gdscheck names the modes), NVIDIA's
MagnumIO repository (gds-diag: which routes have P2PDMA or C2C; Spectrum Scale is told to have one that it has not),
gds-nvidia-fs (nvfs-dma.h: the modules that take its hooks), outputs of GDS 1.7 to 1.18 in public issues. Confirmed
unless noted.
"""

from __future__ import annotations

from dataclasses import dataclass

# The ways, as the site names them; RDMA is that of Weka and Spectrum Scale, in user space, without nvidia-fs.
NVIDIA_FS, P2PDMA, RDMA, COMPAT = "nvidia-fs", "p2pdma", "RDMA", "compat"
WANTED = (NVIDIA_FS, P2PDMA, COMPAT)

# The words of gdscheck since 1.16. nvidia_peermem and peermem: of cufile.h's names of the modes; inferred.
MODES = {
    "nvfs": NVIDIA_FS,
    "p2pdma": P2PDMA,
    "c2c": P2PDMA,
    "dmabuf": RDMA,
    "nvidia_peermem": RDMA,
    "peermem": RDMA,
    "compat": COMPAT,
}
SUPPORTED, UNSUPPORTED = "supported", "unsupported"
# Releases before 1.16 have a line of its own for this way to NVMe.
OLD_P2PDMA = "NVMe P2PDMA"


@dataclass(frozen=True)
class Route:
    """``labels``: gdscheck's names of it. ``kinds``: of a mount, as the kernel has them. ``ways``: that GDS has for it,
    the usual first. ``module``: the kernel module that nvidia-fs hooks into, "" where there is none."""

    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    ways: tuple[str, ...]
    module: str = ""


NVME = Route(("NVMe",), (), (NVIDIA_FS, P2PDMA), "nvme")
NVME_OF = Route(("NVMeOF",), (), (NVIDIA_FS, P2PDMA), "nvme_rdma")
ROUTES = (
    NVME,
    NVME_OF,
    Route(("NFS",), ("nfs", "nfs4"), (NVIDIA_FS, P2PDMA), "rpcrdma"),
    Route(("DDN EXAScaler", "LUSTRE", "FSx Lustre"), ("lustre",), (NVIDIA_FS,), "lnet"),
    Route(("BeeGFS",), ("beegfs",), (NVIDIA_FS,), "beegfs"),
    Route(("ScaTeFS",), ("scatefs",), (NVIDIA_FS,), "scatefs"),
    Route(("WekaFS",), ("wekafs",), (RDMA,)),
    Route(("IBM Spectrum Scale",), ("gpfs",), (RDMA,)),
    Route(("VIRTIOFS",), ("virtiofs",), (P2PDMA,)),
)
# File systems on a disk: ROUTES has the disks. ext4 has to say data=ordered itself, or cuFile does not take it.
ON_DISK = ("ext4", "xfs")
ORDERED = "data=ordered"
# Of an NVMe over fabrics, and of LNet: the networks that move data by RDMA.
RDMA_TRANSPORTS = ("rdma", "pcie", "loop")
RDMA_NETWORKS = ("o2ib", "kfi", "efa")

CONF = "/etc/cufile.json"
POLICY = "rdma_load_balancing_policy"
POLICIES = ("FirstFit", "MaxMinFit", "RoundRobin", "RoundRobinMaxMin", "Randomized")
# Of max_direct_io_size_kb; cuFile says multiples of 64 KB, up to 16 MB.
SIZE_STEP, SIZE_MOST = 64, 16384

# From here on the module takes NVIDIA's open kernel modules only, on x86_64 (its ChangeLog).
OPEN_ONLY = (2, 17, 5)
# Packages whose scripts unload a kernel module before they go or are replaced, and fail where it is in use: dpkg's
# words in a public log of nvidia-fs-dkms 2.17.3 to 2.25.7 (rmmod: ERROR: Module nvidia_fs is in use). Of rpm: inferred.
UNLOADED_BY = {"nvidia-fs-dkms": "nvidia_fs"}
