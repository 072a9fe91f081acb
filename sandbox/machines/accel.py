# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether KVM really boots a kernel here, or qemu has to emulate the processor.

/dev/kvm says little: where this computer is a virtual machine itself, KVM may be there and stop at
once, or run a guest so slowly that it never arrives. So a kernel is booted, for a bounded time.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.machines.config import cache
from sandbox.machines.qemu import PROGRAM

KVM = ("-accel", "kvm", "-cpu", "host")
# A processor without AVX: what glibc and the kernel do with it is what qemu emulates slowest. And
# without cmpxchg16b: after one that failed, qemu 7.2 may give an interrupt wrong flags, and Linux
# 6.12 stops with a double fault in kmem_cache_alloc, mostly within minutes of soft RoCE traffic.
# What was translated of the machine's code has to fit (in MB): with a quarter of this, one that
# installs a kernel translated all of it a hundred times.
EMULATED = ("-accel", "tcg,thread=multi,tb-size=1024", "-cpu", "Nehalem,-cx16")
# A kernel without a disk has started all of itself when it looks for one: 1 s under KVM.
_MARKER = "Kernel panic - not syncing: VFS"
_SECONDS = 12.0
_DEVICE = Path("/dev/kvm")


@dataclass(frozen=True)
class Accelerator:
    """qemu's options, and why these."""

    options: list[str]
    because: str

    @property
    def emulated(self) -> bool:
        return "kvm" not in self.options


def choose(kernel: Path) -> Accelerator:
    """Return what runs a machine here; tried once in each run of this computer."""
    known = cache() / "kvm.json"
    usable = os.access(_DEVICE, os.R_OK | os.W_OK)
    run = f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {usable}"
    try:
        kept = json.loads(known.read_text())
        if kept["run"] == run:
            return _accelerator(kept["trouble"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    trouble = _without_kvm(kernel)
    # Another checkout may be trying, too.
    fresh = known.with_suffix(f".{os.getpid()}")
    fresh.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text(json.dumps({"run": run, "trouble": trouble}) + "\n")
    fresh.replace(known)
    return _accelerator(trouble)


def _accelerator(trouble: str) -> Accelerator:
    if trouble:
        return Accelerator([*EMULATED], f"{trouble}: the processor is emulated")
    return Accelerator([*KVM], "KVM boots a kernel here")


def _without_kvm(kernel: Path) -> str:
    """Return why KVM is not to be had, or ""."""
    if not _DEVICE.exists():
        return f"{_DEVICE} is not there"
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return f"{_DEVICE} may not be used"
    trouble = boots(kernel, list(KVM))
    return f"KVM {trouble}" if trouble else ""


def boots(kernel: Path, options: list[str]) -> str:
    """Boot a kernel until it looks for its disk; return what went wrong, or ""."""
    with tempfile.TemporaryDirectory(prefix="ibready-accel-") as folder:
        console, log = Path(folder) / "console", Path(folder) / "log"
        command = [
            PROGRAM,
            *("-nodefaults", "-no-user-config"),
            *("-display", "none"),
            "-no-reboot",
            *("-machine", "q35"),
            *options,
            *("-m", "512"),
            *("-kernel", str(kernel)),
            *("-append", "console=ttyS0 panic=-1 mitigations=off"),
            *("-serial", f"file:{console}"),
        ]
        begun = time.monotonic()
        with log.open("wb") as file:
            try:
                done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=_SECONDS)
                status: int | None = done.returncode
            except subprocess.TimeoutExpired:
                status = None
            except FileNotFoundError:
                raise SandboxError(f"{PROGRAM} is not installed (apt install qemu-system-x86)") from None
        if console.exists() and _MARKER in console.read_text(errors="replace"):
            return ""
        if status is None:
            return f"boots no kernel within {time.monotonic() - begun:.0f} s"
        said = log.read_text(errors="replace").strip().splitlines()
        return f"ends with status {status} ({said[-1] if said else 'it said nothing'})"
