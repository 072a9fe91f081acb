# SPDX-License-Identifier: GPL-3.0-or-later
"""PCI Express: generations, register values and limits. Data only.

``source``/``confidence`` as in gpus.yml.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Generation:
    """``speed`` in GT/s, as sysfs prints it; ``lane_gbps`` after the line coding, per direction."""

    number: int
    speed: float
    lane_gbps: float


# PCI Express Base Specification: 8b/10b up to generation 2, 128b/130b up to 5, flits of 242 bytes
# in 256 from 6 on. Confidence: confirmed.
GENERATIONS = (
    Generation(1, 2.5, 2.0),
    Generation(2, 5.0, 4.0),
    Generation(3, 8.0, 7.877),
    Generation(4, 16.0, 15.754),
    Generation(5, 32.0, 31.508),
    Generation(6, 64.0, 60.5),
)

# An idle GPU's link goes down to this generation or below. Source: nvidia-smi -q -x outputs of idle
# GPUs (cards at 1; V100, A100, H100, B200 modules at full speed). Confidence: medium.
IDLE_GENERATION = 2

# One bit in 10^12 may be wrong on a link that keeps the specification (generations 1 to 5; from 6
# on the links correct errors themselves). Confidence: confirmed.
BIT_ERROR_RATE = 1e-12
LAST_WITH_BIT_ERROR_RATE = 5
# Shorter than this since boot, one burst of errors at power-up tells nothing.
SETTLED_S = 600

# NVIDIA's DCGM warns of a GPU that sends again more often than this (DCGM_LIMIT_MAX_PCIREPLAY_RATE,
# "the maximum recommended"). Confidence: confirmed.
REPLAYS_PER_MINUTE = 8
# Fewer are told of healthy GPUs (0 to 174 in recordings of H100 hosts); of more, ten times what any
# equal GPU has is the mark of one bad link, however long ago it booted. Confidence: inferred.
REPLAYS_FEW = 1000
REPLAYS_TIMES = 10

# What an HCA should ask for in one read. Source: NVIDIA NIC configuration operator, "Configuration
# details" (MaxReadReq 4096, set at run time). Confidence: confirmed.
HCA_READ_REQUEST = 4096

# Access Control Services, control register. Any of the first four makes a switch send what one of
# its ports has for another up to the root complex, or refuse it. Source: PCI Express Base
# Specification, 7.7.8.3; NCCL's troubleshooting guide (clear them on bare metal). Confirmed.
ACS_REDIRECTS = {
    0x01: "SrcValid",
    0x04: "ReqRedir",
    0x08: "CmpltRedir",
    0x10: "UpstreamFwd",
}

# The smallest BAR through which NVIDIA GPUs of the last ten years show their memory. Source: lspci
# of cards with display outputs, nvidia-smi of T4. Confidence: confirmed.
SMALLEST_GPU_BAR = 256 * 1024 * 1024
FOUR_GIB = 4 * 1024 * 1024 * 1024

# What the firmware says of two NUMA nodes on different sockets, at least (ACPI's SLIT; nodes of one
# socket are told as 11 to 19). Confidence: medium.
OTHER_SOCKET = 20

# Drivers that hold a function for somebody else than this host's programs.
PASSED_ON = ("vfio-pci", "pci-stub", "uio_pci_generic", "igb_uio", "xen-pciback")

# The kernel's names (old and new) of correctable errors that come from a bad link; the others tell
# of requests that nobody answered. Source: Linux ABI, sysfs-bus-pci-devices-aer_stats. Confirmed.
LINK_ERRORS = (
    "RxErr",
    "BadTLP",
    "BadDLLP",
    "Rollover",
    "Timeout",
    "Receiver Error",
    "Bad TLP",
    "Bad DLLP",
    "RELAY_NUM Rollover",
    "Replay Timer Timeout",
)
