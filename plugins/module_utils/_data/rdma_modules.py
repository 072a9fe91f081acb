# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel modules of RDMA and of GPUs: which do what. Data only.

``source``/``confidence`` as in gpus.yml.
"""

from __future__ import annotations

from dataclasses import dataclass

# What a list of modules is read for.
RELEVANT = (
    "mlx5_core",
    "mlx5_ib",
    "ib_core",
    "ib_uverbs",
    "ib_umad",
    "ib_ipoib",
    "rdma_cm",
    "rdma_ucm",
    "nvidia",
    "nvidia_peermem",
    "nv_peer_mem",
    "gdrdrv",
    "mlx4_core",
    "mlx4_ib",
)


# What CUDA programs and the display driver need beside nvidia itself.
OF_DRIVER = ("nvidia_uvm", "nvidia_modeset")


@dataclass(frozen=True)
class Needed:
    """A module that RDMA needs; ``device``: a directory that exists while it is there, built in
    or loaded ("" for none)."""

    name: str
    what_for: str
    device: str = ""
    source: str = "rdma-core kernel-boot, kernel source"
    confidence: str = "confirmed"


# Without these no program sees an RDMA device. The HCA's own driver comes on top: DRIVERS.
CORE = (
    Needed("ib_core", "RDMA devices", "/sys/class/infiniband"),
    Needed("ib_uverbs", "verbs of user programs", "/sys/class/infiniband_verbs"),
)
# Without these some programs fail: diagnostics, the subnet manager, connections by address.
USERLAND = (
    Needed("ib_umad", "sminfo, ibping, the subnet manager, NVLSM", "/sys/class/infiniband_mad"),
    Needed("rdma_cm", "connections by IP address (storage, MPI)"),
)
UMAD = "ib_umad"
IPOIB = "ib_ipoib"
# PCI driver of an HCA -> the module that makes an RDMA device of it. source: kernel source.
DRIVERS = {
    "mlx5_core": "mlx5_ib",
    "mlx4_core": "mlx4_ib",
    "bnxt_en": "bnxt_re",
    "ice": "irdma",
    "i40e": "irdma",
}
# PCI device ids (vendor 15b3) of HCAs before mlx5. source: kernel source, recalled.
MLX4_IDS = ("1002", "1003", "1004", "1007", "6340", "634a", "6732", "673c", "6746", "6750", "676e")
# Drivers that take a GPU away from NVIDIA's. source: NVIDIA driver installation guide (nouveau),
# kernel source (nova_core).
RIVALS = ("nouveau", "nova_core")
ASKED_FOR = frozenset((*RELEVANT, *DRIVERS.values(), *RIVALS))
