# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of memory, CPUs and disks a host must have left, and what its memory may forget. Data only."""

from __future__ import annotations

# MemAvailable below this share of MemTotal: a job that starts now is killed before it has pinned its
# buffers. source: inferred; the kernel's own estimate of what can be had without swapping (proc(5)).
MEMORY_GONE = 0.02
# Who holds memory that is gone, by the line of /proc/meminfo (proc(5); confirmed): what it is, and what to do.
HOLDERS = {
    "Hugetlb": ("huge pages keep {}, used or not (vm.nr_hugepages)", "lower vm.nr_hugepages where nobody uses them"),
    "SUnreclaim": (
        "the kernel itself keeps {} in slabs that it cannot give back (SUnreclaim): a driver or a file system leaks",
        "`slabtop -o -s c` names the cache; drain the host and reboot it, update what owns the cache",
    ),
    "Shmem": (
        "shared memory and file systems in memory keep {} (Shmem)",
        "`df -h -t tmpfs`, `ipcs -m`; delete what ended jobs left there",
    ),
    "PageTables": (
        "page tables keep {}: processes map much in small pages",
        "`grep VmPTE /proc/*/status | sort -k2 -n | tail`; end what does not belong there",
    ),
    "Percpu": ("the kernel keeps {} for its CPUs (Percpu): control groups leak", "drain the host and reboot it"),
}
# Below this share swap in use, or tasks that wait for memory, show that the host lives on it.
MEMORY_SHORT = 0.10
# Share of swap in use that counts as heavy.
SWAP_HEAVY = 0.5
# Per cent of the last five minutes in which tasks waited for memory (PSI, some). source: inferred
# from Documentation/accounting/psi.rst; systemd-oomd acts at 60.
WAITING_MEMORY = 10.0
# Load average per CPU over one and over five minutes. A training node has some ranks and data
# loaders a GPU, far fewer than CPUs; from two on every thread waits as long as it runs. source: inferred.
LOAD_PER_CPU = 2.0
# Per cent of five minutes in which tasks waited for a CPU (PSI, some): below it they wait for a disk
# or a file server instead.
WAITING_CPU = 20.0

# A NUMA node with CPUs that has so much less memory than its largest equal, as a share: a DIMM of
# eight is 0.125, of sixteen 0.0625; what kernel and firmware keep for themselves is below 0.03.
NODE_LACKS = 0.05
# The same of CPUs: nodes of one socket may differ by a core (three nodes of 128 cores).
NODE_LACKS_CPUS = 0.25
# The same between equal hosts: one DIMM of 32 is 0.031.
HOST_LACKS = 0.015

# Corrected errors of one DIMM in 24 hours that ask for its replacement. source: mcelog.conf
# (`[dimm] ce-error-threshold = 10 / 24h`); confidence: confirmed.
CORRECTED_A_DAY = 10

# A file system without so many bytes left (or, if it is small, this share) takes no more files.
FULL_BYTES = 64 * 1024 * 1024
FULL_SHARE = 0.02
# It should have this share of bytes and of inodes left, or so many bytes: a disk of 100 TB with 4 TB
# left is not full. source: what ext4 keeps for root (mke2fs -m); a few images of containers (inferred).
SPACE_SHARE = 0.05
SPACE_BYTES = 50 * 1024 * 1024 * 1024
# NCCL and data loaders share memory through /dev/shm; by default it has half of RAM. source: NCCL's
# user guide, troubleshooting (shared memory); the least is inferred.
SHM_BYTES = 1024 * 1024 * 1024

# Where services and jobs write: package state, logs, images of containers, temporary files.
WRITTEN = (
    *("/", "/var", "/var/log", "/var/tmp", "/tmp", "/run", "/dev/shm"),
    *("/var/lib", "/var/lib/docker", "/var/lib/containerd", "/var/lib/containers"),
)
# Kinds of file system on disks of the host's own.
ON_DISK = ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs")
# What the kernel says of an NVMe controller, but for "dead". source: drivers/nvme/host, the attribute
# state; confidence: confirmed.
NVME_STATES = ("new", "live", "resetting", "connecting", "deleting", "deleting (no IO)")

# What ibready and others write settings to, and programs read them from.
SETTINGS = (
    *("/etc/security", "/etc/security/limits.d", "/etc/modprobe.d", "/etc/modules-load.d"),
    *("/etc/sysctl.d", "/etc/pam.d", "/etc/udev/rules.d", "/etc/ssh", "/etc/ssh/sshd_config.d"),
    *("/etc/systemd/system", "/etc/systemd/system.conf.d", "/etc/default/grub.d", "/etc/rdma"),
)

# Clocks that are read over a bus, a microsecond and more each time and one CPU at a time; every
# other clock source is read without leaving the program. source: the kernel's
# Documentation/timers/hpet.rst and clocksource ratings (hpet 250, acpi_pm 200, jiffies 1, tsc 300).
SLOW_CLOCKS = ("hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies")
