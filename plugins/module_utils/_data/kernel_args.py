# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel command line that a training node may want. Data only.

``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

X86, ARM = "x86_64", "aarch64"
INTEL, AMD = "GenuineIntel", "AuthenticAMD"


@dataclass(frozen=True)
class KernelArg:
    """One argument, and the hosts that it is for.

    ``word``: the word in the inventory that stands for it. ``cpu``: the processor's vendor_id, ""
    for any. ``superchip``: only where GPU and processor are one package (Grace).
    """

    word: str
    text: str
    arch: str
    why: str
    cpu: str = ""
    superchip: bool = False
    source: str = ""
    confidence: str = "confirmed"


AUTO, SRIOV = "auto", "sriov"

KERNEL_ARGS = (
    KernelArg(
        AUTO,
        "iommu=pt",
        X86,
        "GPUs and HCAs reach memory without translation; nothing changes where the IOMMU is off.",
        source="kernel-parameters.txt; NVIDIA GPUDirect RDMA and MLNX_OFED tuning guides",
        confidence="medium",
    ),
    KernelArg(
        AUTO,
        "iommu.passthrough=1",
        ARM,
        "The same on arm64, where iommu=pt is not read.",
        source="kernel-parameters.txt; GB200 images of Azure (azhpc-images)",
    ),
    KernelArg(
        AUTO,
        "numa_balancing=disable",
        ARM,
        "GPU memory is a NUMA node of its own: the kernel must not move pages to and from it.",
        superchip=True,
        source="GB200 images of Azure (azhpc-images)",
    ),
    KernelArg(
        AUTO,
        "init_on_alloc=0",
        ARM,
        "Clearing each page at allocation costs the bandwidth of memory that GPU and processor share.",
        superchip=True,
        source="GB200 images of Azure (azhpc-images)",
    ),
    # Not by default: it switches the IOMMU on, which only handing functions to VMs needs. AMD's is
    # on by itself, and its driver knows no amd_iommu=on.
    KernelArg(
        SRIOV,
        "intel_iommu=on",
        X86,
        "Virtual functions can be handed to virtual machines only with the IOMMU on.",
        cpu=INTEL,
        source="kernel-parameters.txt",
        confidence="medium",
    ),
    KernelArg(
        SRIOV,
        "iommu=pt",
        X86,
        "With the IOMMU on, the host's own devices stay untranslated.",
        source="kernel-parameters.txt",
        confidence="medium",
    ),
)
WORDS = frozenset(kernel_arg.word for kernel_arg in KERNEL_ARGS)

# May be given several times, each with another value; for all others the last one counts.
# Source: kernel-parameters.txt. Confidence: medium.
REPEATABLE = frozenset(
    (
        *("blacklist", "console", "earlycon", "hugepages", "hugepagesz", "initcall_blacklist"),
        *("isolcpus", "memmap", "module_blacklist", "modprobe.blacklist", "pci", "rd.driver.pre"),
        *("rd.driver.blacklist", "rd.lvm.lv", "rd.luks.uuid", "rd.md.uuid", "rdblacklist"),
    )
)

# What an argument may hold where a shell reads the file, and so does GRUB.
SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:=/@+%-]*")
