# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job's container gets of this host where the site does not say: devices and nccl.conf."""

from __future__ import annotations

import glob
import os
import re

from ..._data.nccl_reading import SYSTEM_FILE
from ..._ground import state
from ..._ground.bound import Bound
from ..._parse._container_desired import DOCKER, Desired

_RDMA = ("/dev/infiniband/uverbs*", "/dev/infiniband/rdma_cm", "/dev/gdrdrv")
_CDI = ("/etc/cdi", "/var/run/cdi")
GPU = "nvidia.com/gpu"
# On a line of its own, or in JSON without line breaks.
_KIND = re.compile(r"""(?:^|[{,])\s*["']?kind["']?\s*:\s*["']?([a-z0-9./-]{1,120})""", re.MULTILINE)
_MOST: Bound = 4 * 1024 * 1024


def devices(wish: Desired) -> tuple[str, ...]:
    """The site's word; else every RDMA device, and all GPUs where a CDI file has them."""
    if wish.devices:
        return wish.devices
    found = [path for pattern in _RDMA for path in sorted(glob.glob(pattern))]
    return (*found, *((f"{GPU}=all",) if GPU in kinds() else ()))


def rdma(wish: Desired) -> tuple[str, ...]:
    """The same without GPUs."""
    return tuple(device for device in devices(wish) if not device.startswith(GPU))


def asks_engine_for_gpus(wish: Desired, engine: str) -> bool:
    """Whether docker's own --gpus is needed: there are GPUs, and no CDI file names them."""
    has = bool(glob.glob("/dev/nvidia[0-9]*"))
    return engine == DOCKER and has and not wish.devices and GPU not in kinds()


def mounts() -> tuple[str, ...]:
    """Files of the host that a job has to see."""
    return (SYSTEM_FILE,) if os.path.isfile(SYSTEM_FILE) else ()


def kinds() -> frozenset[str]:
    """The kinds of devices that CDI files of this host describe."""
    return frozenset(kind for text in files().values() for kind in kinds_in(text))


def kinds_in(text: str) -> list[str]:
    """The kinds in the text of one CDI file."""
    return _KIND.findall(text)


def files(root: str = "/") -> dict[str, str]:
    """The texts of a host's CDI files by their paths, without those that cannot be read or are too long."""
    found = {}
    for folder in _CDI:
        place = state.below(root, folder)
        for path in sorted(glob.glob(f"{place}/*.yaml") + glob.glob(f"{place}/*.json")):
            try:
                with open(path, encoding="utf-8", errors="replace") as stream:
                    text = stream.read(_MOST + 1)
            except OSError:
                continue
            if len(text) <= _MOST:
                found[f"{folder}/{os.path.basename(path)}"] = text
    return found
