# SPDX-License-Identifier: GPL-3.0-or-later
"""Was NVIDIA's driver built against the RDMA stack that is there now?

nvidia-peermem takes its symbols from the OFED that is there while it is built; a later OFED has
others, and the module then ends with "Invalid argument" when it is loaded.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ..._parse.dkms_status import DkmsModule
from ..packages import dkms

DRIVER = "nvidia"
# DKMS names of the OFED's kernel modules, deb and rpm.
STACKS = ("mlnx-ofed-kernel", "mlnx-ofa_kernel")


@dataclass(frozen=True)
class Build:
    """A module as DKMS built it for one kernel; ``at`` in seconds since 1970."""

    module: DkmsModule
    at: float


def builds(root: str, name: str, kernel: str) -> list[Build]:
    """Every version of a module that is built for a kernel."""
    home = os.path.join(root, dkms.TREE.lstrip("/"), name)
    try:
        versions = sorted(os.listdir(home))
    except OSError:
        return []
    found = []
    for version in versions:
        module = DkmsModule(name, version)
        objects = dkms.built(root, module, kernel)
        if objects:
            found.append(Build(module, max(os.stat(path).st_mtime for path in objects)))
    return found


def stale(root: str, kernel: str) -> tuple[DkmsModule, str] | None:
    """The driver's module that is older than the RDMA stack's, with the reason; or None."""
    drivers = builds(root, DRIVER, kernel)
    stacks = [build for name in STACKS for build in builds(root, name, kernel)]
    if not drivers or not stacks:
        return None
    driver = max(drivers, key=lambda driver: driver.at)
    stack = max(stacks, key=lambda stack: stack.at)
    if driver.at >= stack.at:
        return None
    return driver.module, f"{stack.module} was built for {kernel} after {driver.module}"


def text(path: str) -> str:
    """A file's text, "" where it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def loaded(root: str) -> str:
    """The version of the loaded driver, "" where none is loaded."""
    return text(os.path.join(root, "sys/module/nvidia/version"))


def rival(root: str) -> bool:
    """Whether nouveau has the GPUs."""
    return os.path.isdir(os.path.join(root, "sys/module/nouveau"))
