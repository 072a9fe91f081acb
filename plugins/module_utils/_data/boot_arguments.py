# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel's command line that hold back what the machine has. Data only.

Source: the kernel's Documentation/admin-guide/kernel-parameters.txt; confirmed.
"""

from __future__ import annotations

import re

# An argument as a whole, and what goes without it. Later words win, but each of these was somebody's test.
HELD_BACK = tuple(
    (re.compile(pattern), without)
    for pattern, without in (
        (r"(?:nr_cpus|maxcpus|possible_cpus)=\d+", "CPUs"),
        (r"nosmp", "CPUs"),
        (r"mem=\d+[KMGTkmgt]?", "memory"),
        (r"numa=off", "which memory is near to which CPU, GPU and HCA"),
        (r"acpi=off|noacpi", "what the firmware tells of the machine"),
        (r"noapic|nolapic", "interrupts of each CPU"),
        (r"pci=(?:\S{1,40},)?nomsi(?:,\S{1,40})?", "interrupts of its own for each queue of an HCA"),
        (r"pci=(?:\S{1,40},)?noaer(?:,\S{1,40})?", "reports of PCI Express errors"),
        (r"mce=off|nomce", "reports of memory and processor errors"),
        (
            r"(?:modprobe\.blacklist|module_blacklist)=(?:\S{1,200},)?"
            r"(?:mlx5_(?:core|ib)|ib_(?:core|uverbs|umad)|rdma_u?cm|nvidia(?:[-_](?:uvm|peermem))?)(?:,\S{1,200})?",
            "a module of RDMA or of the NVIDIA driver",
        ),
    )
)
