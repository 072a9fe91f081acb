# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel's command line that hold back what the machine has. Data only.

Source: the kernel's Documentation/admin-guide/kernel-parameters.txt, dracut.cmdline(7); confirmed. The least numbers
are inferred: no host with eight GPUs has less, and more than that is a limit that nobody meets.
"""

from __future__ import annotations

# A whole argument, and what the kernel does without. Of several with one name the last counts.
WORDS = {
    "nosmp": "CPUs",
    "numa=off": "NUMA nodes",
    "acpi=off": "the firmware's tables",
    "noacpi": "the firmware's tables",
    "noapic": "interrupts for each CPU",
    "nolapic": "interrupts for each CPU",
    "nox2apic": "interrupts for CPUs above 255",
    "mce=off": "reports of memory and processor errors",
    "nomce": "reports of memory and processor errors",
    "pcie_aspm=force": "PCI Express links that stay awake (ASPM)",
    "pcie_aspm.policy=powersave": "PCI Express links that stay awake (ASPM)",
    "pcie_aspm.policy=powersupersave": "PCI Express links that stay awake (ASPM)",
}
# The same of a number below this.
FEWER = {
    "nr_cpus": (64, "CPUs"),
    "maxcpus": (64, "CPUs"),
    "possible_cpus": (64, "CPUs"),
    "mem": (256 * 2**30, "memory"),
}
# Of lists, each of which counts: what one of its words takes away.
PCI = {"nomsi": "interrupts for each queue of an HCA", "noaer": "reports of PCI Express errors"}
KEPT_OUT = ("modprobe.blacklist", "module_blacklist", "rd.driver.blacklist")
NEEDED = (
    *("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm"),
    *("nvidia", "nvidia_uvm", "nvidia_peermem"),
)
