# SPDX-License-Identifier: GPL-3.0-or-later
"""Was NVIDIA's driver built against the RDMA stack that is there now, and nvidia-fs against that driver?

nvidia-peermem takes its symbols from the OFED that is there while it is built; a later OFED has
others, and the module then ends with "Invalid argument" when it is loaded. nvidia-fs takes its
symbols from the driver in the same way.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ..._parse.dkms_status import DkmsModule
from ..packages import dkms

# DKMS names of the driver: NVIDIA's and Ubuntu's, and Debian's, which has a name for each branch and kind.
DRIVER = re.compile(r"nvidia(?:-srv|-current|-current-open|-tesla|-tesla-\d{3})?")
# How Debian has modprobe load the file that it renamed.
_LOADS = re.compile(r"^install nvidia modprobe -i ([A-Za-z0-9_-]{1,60})\b", re.MULTILINE)
_MODPROBE = ("etc/modprobe.d", "run/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d")
# DKMS names of the OFED's kernel modules, deb and rpm.
STACKS = ("mlnx-ofed-kernel", "mlnx-ofa_kernel")
STORAGE = "nvidia-fs"


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


def drivers(root: str, kernel: str) -> list[Build]:
    """Every driver that is built for a kernel, by whatever name of its own."""
    try:
        names = sorted(os.listdir(os.path.join(root, dkms.TREE.lstrip("/"))))
    except OSError:
        return []
    return [build for name in names if DRIVER.fullmatch(name) for build in builds(root, name, kernel)]


def module(root: str) -> str:
    """What modinfo calls the driver's file: nvidia, or as modprobe.d says that Debian renamed it."""
    for folder in _MODPROBE:
        home = os.path.join(root, folder)
        names = sorted(os.listdir(home)) if os.path.isdir(home) else []
        for name in names:
            found = _LOADS.search(text(os.path.join(home, name))) if name.endswith(".conf") else None
            if found is not None:
                return found.group(1)
    return "nvidia"


def stale(root: str, kernel: str) -> tuple[DkmsModule, str] | None:
    """The module that is older than what it is built against, with the reason; or None.

    The driver comes first: once it is built again, nvidia-fs is the older one.
    """
    found = drivers(root, kernel)
    stacks = [build for name in STACKS for build in builds(root, name, kernel)]
    return _older(found, stacks, kernel) or _older(builds(root, STORAGE, kernel), found, kernel)


def _older(mine: list[Build], against: list[Build], kernel: str) -> tuple[DkmsModule, str] | None:
    if not mine or not against:
        return None
    last, first = max(mine, key=lambda build: build.at), max(against, key=lambda build: build.at)
    if last.at >= first.at:
        return None
    return last.module, f"{first.module} was built for {kernel} after {last.module}"


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
