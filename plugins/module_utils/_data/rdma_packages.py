# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages by which an RDMA stack is known, and which of them belong together. Data only.

Sources: NVIDIA's DOCA-Host and MLNX_OFED installation guides (meta packages, kernel packages),
Debian's and Red Hat's rdma-core packages, package lists of the field for the version schemes.
"""

from __future__ import annotations

INBOX = "inbox"
MLNX_OFED = "mlnx_ofed"
DOCA = "doca"

# Meta packages: who has one of these has that stack. Beginnings; confirmed.
METAS: dict[str, tuple[str, ...]] = {
    MLNX_OFED: (
        "mlnx-ofed-all",
        "mlnx-ofed-basic",
        "mlnx-ofed-dpdk",
        "mlnx-ofed-guest",
        "mlnx-ofed-hpc",
        "mlnx-ofed-kernel-only",
    ),
    DOCA: ("doca-ofed", "doca-networking", "doca-all", "doca-kernel"),
}
# Meta packages without kernel modules end like this.
USERSPACE = ("-userspace", "-user-only")
# The kernel side; both vendor stacks use the same names. Beginnings; confirmed.
KERNEL = (
    "mlnx-ofed-kernel-dkms",
    "mlnx-ofed-kernel-modules",
    "mlnx-ofa_kernel-modules",
    "mlnx-ofa_kernel-dkms",
    "kmod-mlnx-ofa_kernel",
    "mlnx-ofa_kernel",
)
# Built from one source package each (rdma-core), so all of them must come from one stack.
# The first is the one that every RDMA program loads.
CORE = ("libibverbs1", "libibverbs")
LIBRARIES = (
    *CORE,
    "ibverbs-providers",
    "librdmacm1",
    "librdmacm",
    "libibumad3",
    "libibumad",
    "rdma-core",
)
# A vendor's build carries this in its version, or counts by year and month (2410, 2510) where
# rdma-core has two digits. Confirmed by package lists of the field.
VENDOR_MARK = "mlnx"
FIRST_VENDOR_NUMBER = 1000
# MLNX_OFED 4 counted its libraries otherwise: 41mlnx1-OFED.4.9.3.
OLD_SCHEME = "OFED."

# ofed_info's name for a stack; confirmed. OFED-internal is what DOCA-OFED calls itself.
BY_NAME = {
    "MLNX_OFED_LINUX": MLNX_OFED,
    "OFED-internal": DOCA,
    "DOCA-OFED": DOCA,
    "OFED": "ofed",
}

# What else is kept of the package database: beginnings of names that some check asks for.
WATCHED = (
    "containerd",
    "cuda-",
    "datacenter-gpu-manager",
    "dkms",
    "doca-",
    "docker",
    "enroot",
    "gdr",
    "ibacm",
    "ibverbs",
    "infiniband-diags",
    "iser",
    "kernel-mft",
    "kmod-",
    "knem",
    "libgdrapi",
    "libibmad",
    "libibnetdisc",
    "libibumad",
    "libibverbs",
    "libnccl",
    "libnvidia-",
    "libnvsdm",
    "librdmacm",
    "mft",
    "mlnx-",
    "nvidia-",
    "nvlsm",
    "ofed-scripts",
    "opensm",
    "openmpi",
    "podman",
    "rdma-core",
    "xpmem",
)

# Where a libibverbs may lie: the distribution's or vendor's own place, and those where other ones
# are left behind by hand. /usr/lib is where Red Hat keeps the 32-bit ones.
LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/lib/x86_64-linux-gnu",
    "/usr/local/lib/aarch64-linux-gnu",
)
