# SPDX-License-Identifier: GPL-3.0-or-later
"""What the driver's programs find on a node: the library's version, the module's, who runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sandbox.hardware.board import Function
from sandbox.hardware.kernel import Kernel
from sandbox.hardware.tree import below

# Where the package managers of the two families put libraries.
LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
# One file a daemon, which holds its process id while it runs.
DAEMONS = "/run/ibready-sandbox/daemons"
PERSISTENCED, FABRICMANAGER, IMEX = "nvidia-persistenced", "nv-fabricmanager", "nvidia-imex"
_VERSIONED = re.compile(r"libnvidia-ml\.so\.([0-9]{1,5}(?:\.[0-9]{1,5}){1,2})")


def library(root: Path) -> str:
    """The version of the installed libnvidia-ml.so.1, "" where there is none."""
    for folder in LIBRARIES:
        place = below(root, f"{folder}/libnvidia-ml.so.1")
        if place.is_symlink():
            found = _VERSIONED.fullmatch(os.path.basename(place.readlink()))
            if found is not None and place.exists():
                return found.group(1)
    return ""


def module(kernel: Kernel) -> str:
    """The version of the loaded nvidia module, "" where it is not loaded."""
    driver = kernel.loaded.get("nvidia")
    return driver.version if driver else ""


def listed(kernel: Kernel) -> list[Function]:
    """The GPUs that the driver has taken over."""
    return [gpu for gpu in kernel.board.gpus if kernel.bound.get(gpu.address) == "nvidia"]


def running(root: Path, daemon: str) -> bool:
    """Whether this daemon said that it runs, and still does."""
    place = below(root, f"{DAEMONS}/{daemon}")
    reported = place.read_text().strip() if place.is_file() else ""
    return reported.isdecimal() and os.path.exists(f"/proc/{reported}")


def cuda(kernel: Kernel, version: str) -> str:
    """The CUDA version that nvidia-smi of this driver shows."""
    return str(kernel.board.spec["cuda"].get(version.partition(".")[0], "N/A"))
