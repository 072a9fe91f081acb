# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of the packages that hold NVIDIA's driver and the RDMA stack. Data only.

source: the package lists of Ubuntu, Debian, RHEL, NVIDIA's CUDA repository and DOCA; confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Packages:
    """``names`` (a star at the end: whatever begins so) without ``others``, which only sound alike.

    ``words``: one of them is in whatever pattern is meant for these packages.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    others: tuple[str, ...] = ()


OF_GPUS = Packages(
    (
        *("nvidia-driver*", "nvidia-open*", "nvidia-dkms*", "nvidia-kernel*", "nvidia-kmod*"),
        *("kmod-nvidia*", "linux-modules-nvidia*", "nvidia-fabricmanager*", "libnvidia*"),
        "cuda-drivers*",
    ),
    ("nvidia", "cuda"),
    ("libnvidia-container*",),
)
# A version lock has the version behind the name.
OF_HCAS = Packages(
    (
        *("mlnx-*", "kmod-mlnx*", "doca-*", "rdma-core", "rdma-core-[0-9]*", "libibverbs"),
        *("libibverbs-[0-9]*", "libibverbs1", "ibverbs-providers"),
    ),
    ("mlnx", "ofed", "doca", "rdma", "ibverbs"),
)
