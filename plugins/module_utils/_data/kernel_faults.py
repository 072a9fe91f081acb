# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel's log that tell of a fault of the kernel, the machine or its disks. Data only.

Source of every entry: the message formats of Linux (kernel/watchdog.c, kernel/rcu/tree_stall.h,
kernel/hung_task.c, mm/oom_kill.c, block/blk-core.c, drivers/pci/pcie/aer.c and dpc.c, drivers/nvme,
drivers/edac, fs/ext4, fs/xfs, fs/btrfs) and of NVIDIA's drivers. Confidence: confirmed where ``seen``
says so, else medium (read in the source, no log at hand).
"""

from __future__ import annotations

from .kernel_log import FAILURE, WARNING, Known

# It harms while it happens: a message that is older than PASSING_S and was not repeated is history.
PASSING = "passing"
# A day: after that nothing of it is seen by a job that starts now. source: inferred.
PASSING_S = 24 * 3600

_CRASHED = "a driver crashed in the kernel"
_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_BROKEN = "a PCI Express link broke"
_HUNG = "a CPU hung in the kernel"
_IOMMU = "the IOMMU refused a device's access to memory"
_FILE_SYSTEM = "a disk failed, or its file system is damaged: nothing can be written there any more"
_NVME = "an NVMe disk stopped answering, and the kernel gave it up"

# A FAILURE leaves the host without something until it is booted again; a WARNING is an early sign.
KERNEL = (
    Known(FAILURE, r"BUG: unable to handle[\w ]{1,60}", _CRASHED),
    Known(FAILURE, r"BUG: kernel NULL pointer dereference", _CRASHED),
    Known(FAILURE, r"kernel BUG at \S{1,80}", _CRASHED),
    Known(FAILURE, r"\bOops: [0-9a-f]{1,16}", _CRASHED),
    Known(FAILURE, r"general protection fault[\w ,:]{0,60}\[#\d{1,4}\]", _CRASHED),
    Known(FAILURE, r"BUG: soft lockup", _HUNG),
    Known(FAILURE, r"\bself-detected stall", _HUNG),
    Known(FAILURE, r"\bdetected stalls on CPUs/tasks", _HUNG),
    Known(
        FAILURE,
        r"Watchdog detected hard LOCKUP(?: on cpu \d{1,6})?",
        "a CPU hung in the kernel with its interrupts off",
    ),
    Known(
        FAILURE,
        r"Machine Check Exception: [0-9a-f]{1,16} Bank \d{1,3}",
        "a processor, its memory or its bus reported an error that stopped it",
    ),
    Known(
        FAILURE,
        r"\[Hardware Error\]: [^:]{0,60}\b[Uu]ncorrected[\w ]{0,40}",
        "the machine reported a memory or processor error that it could not correct",
    ),
    Known(
        FAILURE,
        r"\[Hardware Error\]: event severity: (?:fatal|recoverable)",
        "the firmware reported a hardware error that it could not correct",
    ),
    Known(
        FAILURE,
        r"EDAC \w{1,20}: \d{1,9} UE\b(?: [\w ]{1,40} on [\w#. -]{1,40})?",
        "a memory module has errors that cannot be corrected",
    ),
    Known(
        FAILURE,
        r"\b(Uncorrected hardware memory error in (?:user|kernel)[\w -]{0,20})",
        "a memory module has errors that cannot be corrected",
        r"\1",
    ),
    Known(
        FAILURE,
        rf"\b({_ADDRESS}): (?:AER: )?PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Fatal\)",
        _BROKEN,
        r"fatal PCIe error at \1",
    ),
    Known(
        FAILURE,
        rf"AER: (?:Multiple )?Uncorrect(?:ed|able) \(Fatal\) error (?:message )?received(?: from|:) ({_ADDRESS})",
        _BROKEN,
        r"fatal PCIe error at \1",
    ),
    Known(
        FAILURE,
        r"\bpcieport (\S{1,20}): DPC: containment event",
        "a PCI Express port cut off the device below it after a fatal error",
        r"DPC containment at \1",
    ),
    Known(FAILURE, r"\b[Rr]emounting filesystem read-only", _FILE_SYSTEM),
    Known(FAILURE, r"\b(EXT[234]-fs error \(device [^()]{1,40}\))", _FILE_SYSTEM, r"\1"),
    Known(FAILURE, r"\b(XFS \([^()]{1,40}\): .{0,60}?[Ss]hut(?:ting)? ?down)", _FILE_SYSTEM, r"\1"),
    Known(FAILURE, r"\bBTRFS[\w ]{0,12}\(device [^()]{1,60}\)[^:]{0,30}: forced readonly", _FILE_SYSTEM),
    Known(FAILURE, r"\bnvme (nvme\d{1,3}): (?:Disabling device after reset failure)", _NVME, r"\1 disabled"),
    Known(FAILURE, r"\bnvme (nvme\d{1,3}): Removing after probe failure", _NVME, r"\1 removed"),
    Known(
        WARNING,
        r"PCIe Bus Error: severity=Uncorrect(?:ed|able) \(Non-Fatal\)",
        "a PCI Express link has errors",
    ),
    Known(
        WARNING,
        r"\bcritical (?:medium|target) error, dev (?!fd|sr)\w{1,20}",
        "a disk has sectors that cannot be read or written",
    ),
    Known(
        WARNING,
        r"DMAR: ?\[([^\]\n]{1,60})\] Request device \[([0-9a-f:.]{4,16})\]",
        _IOMMU,
        r"DMAR fault, \1 by \2",
    ),
    Known(WARNING, r"AMD-Vi: Event logged \[IO_PAGE_FAULT", _IOMMU, "AMD-Vi IO_PAGE_FAULT"),
    Known(
        WARNING,
        r"NVRM: (?:GPU \S{1,20}:? )?(RmInitAdapter failed)",
        "the NVIDIA driver could not start a GPU",
        r"\1",
    ),
    Known(
        PASSING,
        r"INFO: (task \S{1,60} blocked for more than \d{1,9} seconds)",
        "a process hangs in the kernel, often on a device or a file server that stopped answering",
        r"\1",
        seen=True,
    ),
    Known(
        PASSING,
        r"\bOut of memory: Kill(?:ed)? process \d{1,10} \(([^()]{1,40})\)",
        "the host's memory was exhausted, and the kernel killed a process",
        r"out of memory, \1 killed",
        seen=True,
    ),
    Known(PASSING, r"\bI/O error, dev (?!fd|sr|loop)\w{1,20}", "a disk does not read or write"),
    Known(PASSING, r"\bBuffer I/O error on dev (?!fd|sr|loop)[\w-]{1,20}", "a disk does not read or write"),
    Known(
        PASSING,
        r"\bnvme (nvme\d{1,3}): (?:controller is down; will reset|I/O (?:tag )?\d{1,6} .{0,20}QID \d{1,5} timeout)",
        "an NVMe disk stopped answering, and was reset",
        r"\1 timed out",
    ),
)
