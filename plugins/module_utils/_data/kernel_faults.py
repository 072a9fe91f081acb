# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel's log that tell of a fault of the kernel, the machine or its disks. Data only.

Source of every entry: the message formats of Linux (kernel/watchdog.c, kernel/rcu/tree_stall.h,
kernel/hung_task.c, kernel/workqueue.c, mm/oom_kill.c, mm/memory-failure.c, mm/page_alloc.c, block/blk-core.c,
drivers/pci/pcie/aer.c and dpc.c, drivers/pci/hotplug, drivers/nvme, drivers/edac, drivers/md, drivers/iommu,
net/core/neighbour.c, net/netfilter, fs/ext4, fs/xfs, fs/btrfs, fs/nfs, fs/file_table.c, arch/arm64/kernel,
arch/x86/mm/fault.c, arch/x86/kernel/traps.c) and of
NVIDIA's drivers. Confidence: confirmed where ``seen`` says so, else medium (read in the source, no log at hand).
"""

from __future__ import annotations

from .._ground.check import Cause
from .kernel_log import FAILURE, WARNING, Known

# It harms while it happens: a message that is older than PASSING_S and was not repeated is history.
PASSING = "passing"
# The same, and jobs fail as long as it goes on: one of the last minutes (STOPPING_S) is an error. source: inferred.
STOPPING = "stopping"
STOPPING_S = 15 * 60
# A day: after that nothing of it is seen by a job that starts now. source: inferred.
PASSING_S = 24 * 3600

_CRASHED = "a driver crashed in the kernel"
_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_BROKEN = Cause(
    "a PCI Express link broke",
    "drain the host; look at `dmesg | grep -i aer`; reseat the device below the named address, boot anew and see "
    "whether it comes back",
)
_HUNG = "a CPU hung in the kernel"
_IOMMU = Cause(
    "the IOMMU refused a device's access to memory",
    "`lspci -s ADDRESS` names the device; update its driver and firmware; compare host.kernel.iommu",
)
_FILE_SYSTEM = Cause(
    "a disk failed, or its file system is damaged: nothing can be written there any more",
    "drain the host; `smartctl -a` or `nvme smart-log` of the disk: replace it, or run fsck from a rescue system",
)
_NVME = Cause(
    "an NVMe disk stopped answering, and the kernel gave it up",
    "power cycle the drained host once; where it comes again update the disk's firmware, then replace it (`nvme list`)",
)
_MEMORY = Cause(
    "a memory module has errors that cannot be corrected",
    "drain the host; the BMC's event log and `dmidecode -t memory` name the module: replace it",
)
_DISK = Cause(
    "a disk does not read or write", "`smartctl -a` or `nvme smart-log` of the disk; its cable and slot; replace it"
)
_NO_DISK = "(?!fd|sr|loop|nbd|zram)"

# A FAILURE leaves the host without something until it is booted again; a WARNING is an early sign.
KERNEL = (
    Known(FAILURE, r"BUG: unable to handle[\w ]{1,60}", _CRASHED),
    Known(FAILURE, r"BUG: kernel NULL pointer dereference", _CRASHED),
    Known(FAILURE, r"kernel BUG at \S{1,80}", _CRASHED),
    Known(FAILURE, r"\bOops: [0-9a-f]{1,16}", _CRASHED),
    Known(FAILURE, r"general protection fault[^\[\n]{0,100}: [0-9a-f]{4} \[#\d{1,4}\]", _CRASHED),
    Known(FAILURE, r"\binvalid opcode: [0-9a-f]{4} \[#\d{1,4}\]", _CRASHED),
    Known(FAILURE, r"\bInternal error: [^\[\n:]{3,60}: [0-9a-f]{1,16} \[#\d{1,4}\]", _CRASHED),
    Known(FAILURE, r"BUG: Bad page (?:state|map)", "memory that the kernel keeps was damaged"),
    Known(
        FAILURE,
        r"\buvm encountered global fatal error\b",
        "the NVIDIA driver's memory manager (UVM) stopped: no new CUDA program works until the host is booted again",
    ),
    Known(FAILURE, r"\bSError Interrupt on CPU\d{1,6}", "a processor or a device reported an error that stopped it"),
    Known(FAILURE, r"NMI: PCI system error \(SERR\)", _BROKEN),
    Known(FAILURE, r"\bMemory failure: 0x[0-9a-f]{1,16}: Sending SIGBUS to ([^\s:]{1,40})", _MEMORY, r"SIGBUS to \1"),
    Known(
        FAILURE,
        r"\bMemory failure: 0x[0-9a-f]{1,16}: recovery action for [\w -]{1,60}: (?:Failed|Ignored)",
        _MEMORY,
        "memory failure, not recovered",
    ),
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
        _MEMORY,
    ),
    Known(
        FAILURE,
        r"\b(Uncorrected hardware memory error in (?:user|kernel)[\w -]{0,20})",
        _MEMORY,
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
        Cause("a disk has sectors that cannot be read or written", "`smartctl -a` of the disk; replace it"),
    ),
    Known(
        WARNING,
        r"DMAR: ?\[([^\]\n]{1,60})\] Request device \[([0-9a-f:.]{4,16})\]",
        _IOMMU,
        r"DMAR fault, \1 by \2",
    ),
    Known(WARNING, r"AMD-Vi: Event logged \[([A-Z_]{3,40})", _IOMMU, r"AMD-Vi \1"),
    Known(WARNING, r"\barm-smmu-v3 (\S{1,40}): event (0x[0-9a-f]{2}) received", _IOMMU, r"event \2 at \1"),
    Known(WARNING, r"AMD-Vi: (Completion-Wait loop timed out)", "the IOMMU does not answer", r"\1"),
    Known(WARNING, r"BUG: workqueue lockup", _HUNG),
    Known(WARNING, r"\b(rcu_\w{1,20} kthread starved) for", _HUNG, r"\1"),
    Known(WARNING, r"BUG: scheduling while atomic", "a driver has a fault that may hang the kernel"),
    Known(
        WARNING,
        r"\bMemory failure: 0x[0-9a-f]{1,16}: recovery action for [\w -]{1,60}: (?:Recovered|Delayed)",
        "a page of memory failed, and was taken out of use",
        "memory failure, recovered",
    ),
    Known(
        WARNING,
        r"\[Hardware Error\]: (Deferred error)\b",
        "memory holds data that cannot be corrected, and nobody has read it yet",
        r"\1",
    ),
    Known(
        WARNING,
        r"\bmd/raid[\w-]{0,4}:(md\w{1,10}): Disk failure on (\S{1,40}?),",
        "a RAID lost a disk: its next failure loses what is on it",
        r"\1 lost \2",
    ),
    Known(
        WARNING,
        r"\b(XFS \([^()]{1,40}\): Metadata (?:corruption|CRC error)) detected",
        "a file system is damaged",
        r"\1",
    ),
    Known(
        WARNING,
        r"\bpciehp: Slot\(([\w-]{1,20})\): (?:Link Down(?!/Up ignored)|Card not present)",
        "a PCI Express device was taken out, or lost its link",
        r"slot \1",
    ),
    Known(
        WARNING,
        r"\b([\w-]{1,40}): version magic '",
        "a kernel module was built for another kernel, and was not loaded",
        r"\1: version magic",
    ),
    Known(
        WARNING,
        r"NVRM: (?:GPU \S{1,20}:? )?(RmInitAdapter failed)",
        "the NVIDIA driver could not start a GPU",
        r"\1",
    ),
    Known(
        PASSING,
        r"(?:^|\s)([^\s\[\]]{1,40})\[\d{1,10}\](?:: segfault at| general protection) .{1,160}? in "
        r"(lib(?:nccl|cuda|mlx5|ibverbs)\b)",
        "a program crashed within a library of NVIDIA's or of RDMA",
        r"\1 crashed in \2",
        seen=True,
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
        Cause(
            "the host's memory was exhausted, and the kernel killed a process",
            "`ps -eo rss,pid,user,args --sort=-rss | head`; give jobs a limit of memory (Slurm's RealMemory, a cgroup)",
        ),
        r"out of memory, \1 killed",
        seen=True,
    ),
    Known(PASSING, rf"\bI/O error, dev {_NO_DISK}\w{{1,20}}", _DISK),
    Known(PASSING, rf"\bBuffer I/O error on dev {_NO_DISK}[\w-]{{1,20}}", _DISK),
    Known(
        PASSING,
        r"\bnvme (nvme\d{1,3}): (?:controller is down; will reset|I/O (?:tag )?\d{1,6} .{0,60}QID \d{1,5} timeout"
        r"|Device not ready; aborting)",
        "an NVMe disk stopped answering, and was reset",
        r"\1 timed out",
    ),
    Known(
        STOPPING,
        r"\bneighbor table overflow",
        Cause(
            "more neighbours than their table holds (net.ipv4.neigh.default.gc_thresh3): connections fail",
            "raise net.ipv4.neigh.default.gc_thresh1 to 3 (and those of net.ipv6) above the number of the network's "
            "hosts, in /etc/sysctl.d as well",
        ),
    ),
    Known(
        STOPPING,
        r"\bnf_conntrack: (?:nf_conntrack: )?table full, dropping packet",
        Cause(
            "more connections than the firewall keeps (nf_conntrack_max): packets are dropped",
            "raise net.netfilter.nf_conntrack_max, in /etc/sysctl.d as well, or leave the jobs' network untracked "
            "(notrack); `conntrack -S` counts what is dropped",
        ),
    ),
    Known(
        STOPPING,
        r"\bcgroup: fork rejected by pids controller in (\S{1,120})",
        Cause(
            "a service or a user has as many tasks as it may: processes of jobs do not start",
            "raise TasksMax of the named unit (`systemctl edit`), or pids.max of the named group",
        ),
        r"fork rejected in \1",
    ),
    Known(PASSING, r"\bnfs: server (\S{1,80}) not responding", "a file server stopped answering", r"nfs: \1"),
    Known(
        STOPPING,
        r"\bVFS: file-max limit \d{1,20} reached",
        Cause(
            "as many files are open as the kernel allows (fs.file-max)", "raise fs.file-max, in /etc/sysctl.d as well"
        ),
    ),
)
# What says that it is over, and the label of what that was.
OVER = (
    (r"\bnfs: server (\S{1,80}) OK\b", r"nfs: \1"),
    (r"\bpciehp: Slot\(([\w-]{1,20})\): (?:Link Up|Card present)", r"slot \1"),
)
# Records that follow are of the boot before, whose end they tell; source: drivers/acpi/apei/bert.c.
BEFORE_BOOT = "BERT: Error records from previous boot"
RECORD = "[Hardware Error]"
