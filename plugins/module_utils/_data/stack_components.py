# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lock calls the parts of a stack, and the packages that they come in. Data only.

A package goes by exactly this name, or by it and a driver branch (nvidia-fabricmanager-570).
Sources: NVIDIA's driver installation guide, container toolkit and DCGM guides, the NCCL, gdrcopy
and nvidia-fs packages; confirmed unless noted.
"""

from __future__ import annotations

PACKAGES: dict[str, tuple[str, ...]] = {
    "fabric_manager": ("nvidia-fabricmanager", "nvidia-fabric-manager"),
    "imex": ("nvidia-imex",),
    "nvlsm": ("nvlsm",),
    "nscq": ("libnvidia-nscq",),
    "nccl": ("libnccl2", "libnccl"),
    "container_toolkit": ("nvidia-container-toolkit",),
    "cuda": ("cuda-toolkit", "cuda-cudart", "cuda-runtime", "cuda"),
    "dcgm": ("datacenter-gpu-manager-4-core", "datacenter-gpu-manager"),
    "gdrcopy": ("gdrcopy", "libgdrapi", "gdrdrv-dkms"),
    "gds": ("nvidia-fs-dkms", "nvidia-fs"),
    "docker": ("docker-ce", "docker.io"),
    "containerd": ("containerd.io", "containerd"),
    "podman": ("podman",),
    "enroot": ("enroot",),
    "mft": ("mft",),
}

# The driver's packages, by the beginning of their name, for three questions: which version is
# installed (the surest first), what has to be of the loaded driver's version, and what brings
# the kernel module. Debian's helpers (nvidia-kernel-common) have versions of their own.
DRIVER_INSTALLED = (
    *("nvidia-utils", "nvidia-driver", "nvidia-open", "cuda-drivers"),
    *("nvidia-kernel-dkms", "nvidia-tesla"),
)
DRIVER_VERSIONED = (
    *("nvidia-dkms", "nvidia-driver-", "nvidia-kernel-dkms", "nvidia-kernel-source", "nvidia-utils"),
    *("libnvidia-compute", "nvidia-open", "nvidia-kmod", "nvidia-tesla-"),
)
DRIVER_MODULES = (
    *("nvidia-dkms", "nvidia-driver", "nvidia-open", "kmod-nvidia", "nvidia-kernel-dkms", "nvidia-tesla"),
    "linux-modules-nvidia",
)
