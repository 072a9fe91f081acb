# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel's command line that hold back what the machine has (boot_arguments.yml)."""

from __future__ import annotations

from ._rows import boot_arguments as rows

WORDS: dict[str, str] = rows.WORDS
FEWER: dict[str, tuple[int, str]] = rows.FEWER
PCI: dict[str, str] = rows.PCI
KEPT_OUT = ("modprobe.blacklist", "module_blacklist", "rd.driver.blacklist")
NEEDED = (
    *("mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm"),
    *("nvidia", "nvidia_uvm", "nvidia_peermem"),
)
