# SPDX-License-Identifier: GPL-3.0-or-later
"""A node's root directory with the simulated hardware shown below it, and nothing loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from sandbox import parcel
from sandbox.config import RAILS
from sandbox.hardware import kmod, pci, shown
from sandbox.hardware.kernel import Kernel
from sandbox.hardware.settings import DATA, MARK, node_kernel
from sandbox.hardware.tree import below

RELEASE = os.uname().release
DRIVER = "580.173.02"


def node(root: Path) -> Kernel:
    """A bare node below `root`: hardware, the distribution's modules, no module loaded."""
    mark = {"simulated": True, "hardware": True, "hcas": [{"name": name} for name in RAILS]}
    put(root, MARK, json.dumps(mark))
    put(root, DATA, json.dumps(parcel.hardware_data()))
    kernel = node_kernel(root)
    (root / "dev").mkdir()
    pci.render(kernel.board).write(root)
    pci.numa(2, 8).write(root)
    with kernel.held():
        kmod.plant(kernel)
        shown.show(kernel)
    return kernel


def put(root: Path, path: str, text: str) -> None:
    place = below(root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def module(root: Path, place: str, version: str = DRIVER, **fields: str) -> None:
    """A module file below /lib/modules/RELEASE, like ``updates/dkms/nvidia``."""
    name = place.rpartition("/")[2]
    reported = {"version": version, "name": name, "vermagic": f"{RELEASE} SMP", **fields}
    lines = "".join(f"{key}: {value}\n" for key, value in reported.items())
    put(root, f"/lib/modules/{RELEASE}/{place}.ko", "SIMULATED\n" + lines)


def driver(root: Path, version: str = DRIVER, library: str = "") -> None:
    """The files of an installed driver: modules and library."""
    module(root, "updates/dkms/nvidia", version, license="Dual MIT/GPL")
    module(root, "updates/dkms/nvidia-uvm", version, depends="nvidia")
    library = library or version
    folder = "/usr/lib/x86_64-linux-gnu"
    put(root, f"{folder}/libnvidia-ml.so.{library}", "SIMULATED")
    link = below(root, f"{folder}/libnvidia-ml.so.1")
    link.unlink(missing_ok=True)
    link.symlink_to(f"libnvidia-ml.so.{library}")


def run(root: Path, line: str) -> int:
    """One command of the simulated kmod, like ``modprobe nvidia``."""
    name, *words = line.split()
    return kmod.main(name, words, root)


def live(root: Path) -> Live:
    return Live(root)
