# SPDX-License-Identifier: GPL-3.0-or-later
"""Say on which machine the numbers were taken, and whether something else ran beside."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path


def model(text: str) -> str:
    """The processor's name, of /proc/cpuinfo."""
    found = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return found[0].strip() if found else platform.machine()


def memory_gib(text: str) -> float:
    """All memory, of /proc/meminfo."""
    kib = [line.split()[1] for line in text.splitlines() if line.startswith("MemTotal:")]
    return int(kib[0]) / 1024**2


def main() -> int:
    """Print one line."""
    cpu = model(Path("/proc/cpuinfo").read_text())
    memory = memory_gib(Path("/proc/meminfo").read_text())
    load = os.getloadavg()[0]
    kernel = ".".join(platform.release().split(".")[:2])
    print(
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GiB; Linux {kernel},"
        f" Python {platform.python_version()}; load before: {load:.1f}"
    )
    if load > 0.5:
        print("Something else runs on this machine: the numbers that follow are too high.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
