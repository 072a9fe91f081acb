# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel log that mean something to a training node. Data only.

Source of every entry: the message formats of the kernel's mlx4, mlx5 and InfiniBand drivers and of
NVIDIA's drivers, and logs of the field (linux-rdma list, issue trackers). Confidence: confirmed
where ``seen`` says so, else medium (read in the source, no log at hand).
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.check import Cause

FAILURE = "failure"
WARNING = "warning"


@dataclass(frozen=True)
class Known:
    """A message: what it looks like, the words for it ("" = the text that matched), what it means.

    A ``failure`` leaves an HCA without service; a ``warning`` is an early sign or a lost feature. ``means`` may bring
    its remedy (Cause).
    """

    kind: str
    pattern: str
    means: str
    label: str = ""
    seen: bool = False


# The first that matches counts. \1 and so on are the pattern's groups.
HCA = (
    Known(
        FAILURE,
        r"probe with driver mlx[45]_\w{1,20}(?:\.\w{1,20})? failed with error -\d{1,4}",
        "the driver gave up on this HCA while it started it",
        seen=True,
    ),
    Known(
        FAILURE,
        r"mlx[45]_\w{1,20}(?:\.\w{1,20})?: (probe of \S{1,40} failed with error -\d{1,4})",
        "the driver gave up on this HCA while it started it",
        r"\1",
    ),
    Known(
        FAILURE,
        r"health recovery (?:flow aborted|failed)",
        "the HCA stopped answering over PCI Express and did not come back",
        seen=True,
    ),
    Known(FAILURE, r"Fatal error \d{1,4} detected", "the HCA reported a fatal error", seen=True),
    Known(FAILURE, r"PCI slot is unavailable", "the HCA's slot lost its link or its power", seen=True),
    Known(FAILURE, r"device's health compromised", "the HCA's firmware stopped counting its heartbeat", seen=True),
    Known(
        FAILURE,
        r"synd 0x(?!0:)[0-9a-f]{1,4}: [\w /-]{1,60}",
        "the HCA's firmware reported an internal error",
        seen=True,
    ),
    Known(FAILURE, r"Health issue observed, [^:]{1,80}", "the HCA's firmware reported a fault"),
    Known(
        FAILURE,
        r"\b(mlx5_irq_alloc):\d{1,6}:\(pid \d{1,10}\): Failed to request irq\. err = (-\d{1,4})",
        "the kernel has no interrupt vectors left for this HCA",
        r"\1 err \2",
        seen=True,
    ),
    Known(
        FAILURE,
        r"\b(mlx5_ib_\w{1,40}):\d{1,6}:\(pid \d{1,10}\): Error (-\d{1,4}) while",
        "the RDMA driver could not set up what it needs on this HCA",
        r"\1 \2",
        seen=True,
    ),
    Known(
        FAILURE,
        r"Firmware over \d{1,9} MS in (?:pre-)?initializing state, aborting",
        "the HCA's firmware did not start",
    ),
    Known(
        FAILURE,
        r"\b[A-Z][A-Z0-9_]{2,60}\(0x[0-9a-f]{1,4}\) (?:timeout\. Will cause a leak|No done completion)",
        "the HCA's firmware did not answer a command in time",
        seen=True,
    ),
    Known(FAILURE, r"PCIe Bus Error: severity=Uncorrected \(Fatal\)", "the PCI Express link of the HCA broke"),
    Known(
        FAILURE,
        r"\b((?:mlx[45]_\w{1,20}|ib_\w{1,20}|rdma_\w{1,20})): "
        r"(disagrees about version of symbol|Unknown symbol)",
        "RDMA modules of two stacks are mixed: one was built against the other's symbols",
        r"\1: \2",
    ),
    Known(FAILURE, r"mlx4_core \S{1,20} (Internal error detected)", "the HCA reported an internal error", r"\1"),
    Known(
        WARNING,
        r"Module ID not recognized: \S{1,20}",
        "the driver does not know this kind of transceiver: its readings are not to be had",
        seen=True,
    ),
    Known(WARNING, r"TX timeout detected", "a send queue of the HCA stood still", seen=True),
    Known(
        WARNING,
        r"\b[A-Z][A-Z0-9_]{2,60}\(0x[0-9a-f]{1,4}\) recovered after timeout",
        "an interrupt of the HCA was lost: its answer to a command was found only later",
        seen=True,
    ),
    Known(
        WARNING,
        r"failed to allocate command entry",
        "too many commands wait for the HCA's firmware: the next one was dropped",
        seen=True,
    ),
    Known(
        WARNING,
        r"\bCQ error on CQN 0x[0-9a-f]{1,8}, syndrome 0x[0-9a-f]{1,4}",
        "a completion queue of the HCA ran over, or was damaged",
        seen=True,
    ),
    Known(WARNING, r"NETDEV WATCHDOG: \S{1,20} \(mlx[45]_core\)", "a send queue of the HCA stood still"),
    Known(
        WARNING,
        r"Detected insufficient power on the PCIe slot(?: \(\d{1,4}W\))?",
        Cause(
            "the slot announces less power than the HCA and its transceivers may draw",
            "see what the BIOS gives its slot (`lspci -vv`, SlotPowerLimit); move the HCA to a slot of 75 W, or plug "
            "in its own power cable",
        ),
        seen=True,
    ),
    Known(
        WARNING,
        r"Port module event\[error\]: module \d{1,3}, [\w ,/()-]{1,80}",
        "a transceiver or cable reported a fault",
        seen=True,
    ),
    Known(WARNING, r"High temperature on sensors", "the HCA or a transceiver is too hot", seen=True),
    Known(WARNING, r"PCIe Bus Error: severity=Uncorrected \(Non-Fatal\)", "the PCI Express link of the HCA has errors"),
    Known(
        WARNING,
        r"\b[A-Z][A-Z0-9_]{2,60}\(0x[0-9a-f]{1,4}\) op_mod\(0x[0-9a-f]{1,4}\) failed, "
        r"status (?:internal error|bad system state|no resources|limits exceeded)"
        r"\(0x[0-9a-f]{1,4}\)",
        "the HCA's firmware refused a command",
    ),
    Known(
        FAILURE,
        r"\bmlx5_\w{1,40} failed with error code -\d{1,4}",
        "the driver gave up on this HCA while it started it",
    ),
)
# What names a step, and what then says that the whole failed: the step is left out of the same
# device's failures.
STEPS = (
    (r"\bmlx5_\w{1,40} failed with error code -\d{1,4}", r"\bprobe .*failed"),
    (r"\S{1,80} No done completion", r"timeout\. Will cause a leak"),
)
# How the lines of a log without timestamps begin, so that it can be told from other text.
HEADS = (
    *("mlx4_", "mlx5_", "mlx_compat", "infiniband ", "ib_", "rdma_", "iw_cm", "nvidia", "NVRM:"),
    *("nv_peer_mem", "gdrdrv", "nouveau", "pcieport ", "pci ", "pci_bus ", "Linux version "),
    *("Command line:", "Kernel command line:", "BIOS-", "DMI:", "ACPI:", "DMAR:", "AMD-Vi:"),
    *("iommu:", "x86/", "smpboot:", "EDAC ", "mce:", "EXT4-fs", "XFS ", "IPv6:", "usb ", "scsi "),
    *("nvme ", "systemd[1]:", "audit:", "BUG:", "INFO:", "watchdog:", "Call Trace:", "beegfs: "),
)
