# SPDX-License-Identifier: GPL-3.0-or-later
"""Put the simulated hardware over /sys and /proc of a node, before its first service starts.

Mounts of the container's own, made anew at each start: nothing reaches the machine's kernel.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from sandbox.hardware import kmod, pci, shown
from sandbox.hardware.kernel import RUN
from sandbox.hardware.settings import node_kernel

HOLD = "/run/ibready-hold-devices"
LINKS = "/usr/local/sbin"
PROGRAMS = "/usr/local/lib/ibready-sandbox"
_BUS = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")


def mount(*argv: str) -> None:
    subprocess.run(["mount", *argv], check=True)


def show_hardware() -> None:
    """The PCI bus, NUMA nodes, firmware names, processor flags; no module is loaded yet.

    /sys/module and /sys/kernel/mm must be the node's own by now, as must be /sys/class.
    """
    kernel = node_kernel()
    _own_devices()
    _over("/sys/bus/pci")
    _over("/sys/devices/system/node")
    _over("/proc/driver")
    pci.render(kernel.board).write(Path("/"))
    cpus = len(os.sched_getaffinity(0))
    pci.numa(int(kernel.board.spec["numa_nodes"]), cpus).write(Path("/"))
    _bare_metal()
    with kernel.held():
        kmod.plant(kernel)
        shown.show(kernel)
    if os.path.exists("/proc/modules"):
        mount("--bind", f"{RUN}/modules", "/proc/modules")
    tools = {**dict.fromkeys(kmod.TOOLS, kmod.NAME), "lsmod": "simulated-kernel-says", "dmesg": "simulated-kernel-says"}
    for name, program in tools.items():
        place = f"{LINKS}/{name}"
        if not os.path.lexists(place):
            os.symlink(f"{PROGRAMS}/{program}", place)


def _over(directory: str) -> None:
    mount("-t", "tmpfs", "-o", "mode=755", "simulated-hardware", directory)


def _own_devices() -> None:
    """/sys/devices with everything but the machine's PCI buses, which are not the node's."""
    os.makedirs(HOLD, exist_ok=True)
    mount("--bind", "/sys/devices", HOLD)
    _over("/sys/devices")
    for name in os.listdir(HOLD):
        source, target = f"{HOLD}/{name}", f"/sys/devices/{name}"
        if os.path.isdir(source) and not _BUS.fullmatch(name):
            os.mkdir(target)
            mount("--bind", source, target)
    subprocess.run(["umount", "--lazy", HOLD], check=True)
    os.rmdir(HOLD)


def _bare_metal() -> None:
    """/proc/cpuinfo without the flag of a virtual machine: the simulated node is none."""
    with open("/proc/cpuinfo") as file:
        text = file.read()
    own = f"{RUN}/cpuinfo"
    os.makedirs(RUN, exist_ok=True)
    with open(own, "w") as file:
        file.write(re.sub(r"\bhypervisor ?", "", text))
    mount("--bind", own, "/proc/cpuinfo")
