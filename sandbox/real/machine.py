# SPDX-License-Identifier: GPL-3.0-or-later
"""A host as a machine: a kernel of its own under UEFI's Secure Boot, and a GPU on its bus that is simulated."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.machines import accel, lifecycle, qemu
from sandbox.machines.config import SSH_PORT, known_as
from sandbox.real import disk, gpu, mok
from sandbox.real.host import HOSTS, Hosts
from sandbox.steps import Say, step

# Under emulation, with drivers that are asked to load and will not.
_BOOT_SECONDS = 300.0
MINUTES = 60.0
_MEMORY_MB = 2048
_GPU = Path(gpu.__file__)


def command(box: Hosts, node: str, accelerator: list[str], *, with_gpu: bool) -> list[str]:
    """Return qemu's command line; its files are named as the state directory has them."""
    machine = [
        qemu.PROGRAM,
        *("-name", f"{box.name}-{node}"),
        *("-nodefaults", "-no-user-config"),
        *("-display", "none"),
        "-no-reboot",
        # Secure Boot's variables are written in the firmware's own mode alone.
        *("-machine", "q35,smm=on,memory-backend=memory"),
        *("-global", "driver=cfi.pflash01,property=secure,value=on"),
        *accelerator,
        *("-smp", "1"),
        *("-m", str(_MEMORY_MB)),
        *("-object", f"memory-backend-memfd,id=memory,size={_MEMORY_MB}M"),
        *("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={disk.firmware()}"),
        *("-drive", f"if=pflash,unit=1,format=raw,file={node}.variables"),
        # The firmware shows GRUB those drives only that it may start from.
        *("-drive", f"file={node}.boot,if=none,id=boot,format=raw,readonly=on"),
        *("-device", "virtio-blk-pci,drive=disk,bootindex=2"),
        *("-drive", f"file={node}.disk,if=none,id=disk,format=raw,cache=writeback"),
        *("-device", "virtio-blk-pci,drive=boot,bootindex=1"),
        *qemu.card("management", f"user,ipv6=off,hostfwd=tcp:{box.door(node)}:{SSH_PORT}-:22", "52:54:00:1b:58:01"),
        *("-device", "virtio-rng-pci"),
        *("-chardev", f"socket,id=console,path={node}.line,server=on,wait=off,logfile={node}.console,logappend=on"),
        *("-serial", "chardev:console"),
        *("-qmp", f"unix:{node}.qmp,server=on,wait=off"),
        *("-pidfile", f"{node}.pid"),
    ]
    if not with_gpu:
        return machine
    return [sys.executable, str(_GPU), *machine, "-device", f"x-pci-proxy-dev,id=gpu,fd={gpu.CONNECTION}"]


def boot(box: Hosts, node: str, say: Say, *, with_gpu: bool, minutes: float) -> None:
    """Make a machine of a host as it is now, in the place of an earlier one, and turn it on."""
    qemu.cut(box, node)
    disk.firmware()
    with step(say, f"the files of {node} are on a disk"):
        disk.write(box, node)
    known = f"{known_as(box, node)} {' '.join(box.file(node, 'host.pub').read_text().split()[:2])}\n"
    if known not in box.known_hosts.read_text():
        with box.known_hosts.open("a") as file:
            file.write(known)
    start(box, node, say, with_gpu=with_gpu, minutes=minutes)


def start(box: Hosts, node: str, say: Say, *, with_gpu: bool, minutes: float) -> None:
    """Turn a machine on as it was left, and wait until it has started all that it will."""
    if not box.file(node, "disk").exists():
        raise SandboxError(f"{node} is no machine yet: `boot` makes it one")
    chosen = accel.choose(box.file(node, "kernel"))
    say(chosen.because)
    with step(say, f"{node} runs, ssh answers"):
        qemu.start(box, node, command(box, node, chosen.options, with_gpu=with_gpu), minutes)
        wait(box, node)


def wait(box: Hosts, node: str) -> None:
    """Return when the machine has started all that it will."""
    lifecycle.arrived(box, node, time.monotonic() + _BOOT_SECONDS)


def enrol(box: Hosts, node: str, password: str) -> None:
    """Be at the console while the machine reboots, and wait until it runs again."""
    mok.enrol(box.file(node, "line"), password)
    wait(box, node)


def off(box: Hosts) -> None:
    """Take the power of every machine away."""
    for node in HOSTS:
        qemu.cut(box, node)
