# SPDX-License-Identifier: GPL-3.0-or-later
"""One qemu for each machine: how it is started, whether it runs, how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.machines import qmp
from sandbox.machines.config import MACHINES, SSH_PORT, Home, Pair

PROGRAM = "qemu-system-x86_64"
_MEMORY_MB = 1024
# A reboot is a new qemu, which begins with nothing translated: one that is reset takes back, piece
# by piece and for half a minute, what it had translated for an emulated machine. So qemu ends with
# status 0 when the machine reboots; also when it switches itself off, after which it is on again.
_AGAIN = ("sh", "-c", 'while "$@"; do :; done', "sh")


def argv(box: Pair, machine: str, accelerator: list[str]) -> list[str]:
    """Return qemu's command line; its files are named as the state directory has them."""
    number = MACHINES.index(machine)
    other = MACHINES[1 - number]
    return [
        PROGRAM,
        *("-name", f"{box.name}-{machine}"),
        *("-nodefaults", "-no-user-config"),
        *("-display", "none"),
        "-no-reboot",
        *("-machine", "q35"),
        *accelerator,
        *("-smp", "1"),
        *("-m", str(_MEMORY_MB)),
        # What the machine flushed is on this computer's disk; what it did not may be lost when
        # qemu is killed, as with a real disk's own memory.
        *("-drive", f"file={machine}.disk,if=none,id=disk,format=qcow2,cache=writeback"),
        *("-device", "virtio-blk-pci,drive=disk"),
        *("-drive", f"file={machine}.seed,if=none,id=seed,format=raw,readonly=on"),
        *("-device", "virtio-blk-pci,drive=seed"),
        *card(
            "management",
            f"user,ipv6=off,hostfwd=tcp:{box.door(machine)}:{SSH_PORT}-:{SSH_PORT}",
            f"52:54:00:1b:0{number}:01",
        ),
        *card(
            "data",
            f"dgram,local.type=unix,local.path={machine}.data,remote.type=unix,remote.path={other}.data",
            f"52:54:00:1b:0{number}:02",
        ),
        *("-device", "virtio-rng-pci"),
        *("-chardev", f"file,id=console,path={machine}.console,append=on"),
        *("-serial", "chardev:console"),
        *("-qmp", f"unix:{machine}.qmp,server=on,wait=off"),
        *("-pidfile", f"{machine}.pid"),
    ]


def card(name: str, backend: str, mac: str) -> list[str]:
    """Return the options of a network card."""
    kind, _, rest = backend.partition(",")
    return [
        "-netdev",
        f"{kind},id=net-{name},{rest}",
        "-device",
        f"virtio-net-pci,id={name},netdev=net-{name},mac={mac},romfile=",
    ]


def start(box: Home, machine: str, command: list[str], minutes: float) -> None:
    """Turn a machine on, for at most so long: a watchdog ends it then, whatever happens.

    `command`: qemu's, or that of a program which begins it; begun in the directory of state.
    """
    if keepers(box, machine):
        raise SandboxError(f"{machine} runs already")
    for kind in ("qmp", "pid", "console"):
        box.file(machine, kind).unlink(missing_ok=True)
    log = box.file(machine, "log")
    # To timeout, 0 is no limit at all.
    watched = ["timeout", "--kill-after=5", f"{max(minutes * 60, 1):.0f}"]
    with log.open("wb") as file:
        # It is nobody's child: what started it may end.
        subprocess.run(
            ["setsid", "--fork", *watched, *_AGAIN, *command],
            cwd=box.state,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            check=True,
        )
    deadline = time.monotonic() + 10
    while not box.file(machine, "qmp").exists() or not alive(box, machine):
        if time.monotonic() > deadline:
            cut(box, machine)
            said = log.read_text(errors="replace").strip() or "it said nothing"
            taken = ": choose another --subnet" if "forwarding rule" in said else ""
            raise SandboxError(f"qemu did not start for {machine}: {said}{taken}")
        time.sleep(0.05)


def alive(box: Home, machine: str) -> int | None:
    """Return the process id of a machine's qemu, if it is one and it runs."""
    try:
        number = int(box.file(machine, "pid").read_text())
        words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
        folder = os.readlink(f"/proc/{number}/cwd")
    except (OSError, ValueError):
        return None
    ours = _is_qemu(words) and folder == str(box.state.resolve())
    return number if ours and f"{machine}.pid".encode() in words else None


def _is_qemu(words: list[bytes]) -> bool:
    return words[0].rpartition(b"/")[2] == PROGRAM.encode()


def keepers(box: Home, machine: str) -> list[int]:
    """Return the processes by which a machine is on: qemu, what begins it again, the watchdog."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            mine = os.readlink(process / "cwd") == str(box.state.resolve())
        except OSError:
            continue
        if mine and any(_is_qemu([word]) for word in words) and f"{machine}.pid".encode() in words:
            found.append(int(process.name))
    return found


def cut(box: Home, machine: str) -> bool:
    """Take a machine's power away at once; return whether it had any.

    Also while it reboots, and where qemu came to no pid file: it would hold the machine's disk and
    address once it did.
    """
    found = keepers(box, machine)
    had = bool(found)
    deadline = time.monotonic() + 10
    while found:
        for number in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise SandboxError(f"what keeps {machine} on (processes {found}) does not end")
        time.sleep(0.02)
        found = keepers(box, machine)
    return had


def link(box: Home, machine: str, card: str, *, up: bool) -> None:
    """Plug a card's cable in, or pull it."""
    qmp.ask(box.file(machine, "qmp"), "set_link", name=card, up=up)
