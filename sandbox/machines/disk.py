# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that the BIOS boots: a root directory as ext4, behind GRUB's own sectors."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sandbox import podman
from sandbox.errors import SandboxError

GIB = 8
_SECTOR = 512
# Where the one partition begins, in sectors: 1 MiB, as every partitioner does.
_FIRST = 2048
_GRUB = "boot/grub/i386-pc"


def boot_sector(boot: bytes, sectors: int) -> bytes:
    """Return GRUB's boot.img with a table of one active Linux partition, up to the disk's end."""
    entry = struct.pack("<B3sB3sII", 0x80, b"\xfe\xff\xff", 0x83, b"\xfe\xff\xff", _FIRST, sectors - _FIRST)
    return boot[:440].ljust(446, b"\0") + entry.ljust(64, b"\0") + b"\x55\xaa"


def make(root: Path, disk: Path) -> None:
    """Write `root` (which only root may read in full) into a sparse disk image."""
    with disk.open("wb") as file:
        file.truncate(GIB << 30)
    # Everything is written now: the machine's kernel would do it later, and slower.
    _run(
        [
            *podman.prefix(),
            "mkfs.ext4",
            "-q",
            "-F",
            *("-i", "32768"),
            *("-E", f"offset={_FIRST * _SECTOR},lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
            *("-d", str(root)),
            str(disk),
            f"{(GIB << 10) - 1}M",
        ]
    )
    boot = (root / _GRUB / "boot.img").read_bytes()
    core = (root / _GRUB / "core.img").read_bytes()
    if len(core) > (_FIRST - 1) * _SECTOR:
        raise SandboxError(f"GRUB's core has {len(core)} bytes and does not fit before 1 MiB")
    with disk.open("r+b") as file:
        file.write(boot_sector(boot, (GIB << 30) // _SECTOR))
        file.write(core)


def overlay(base: Path, disk: Path) -> None:
    """Make an empty layer over a base image, in the place of an older one."""
    disk.unlink(missing_ok=True)
    if shutil.which("qemu-img") is None:
        raise SandboxError("qemu-img is not installed (apt install qemu-utils)")
    _run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(base), str(disk)])


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    except FileNotFoundError:
        raise SandboxError(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as exc:
        said = exc.stderr.decode(errors="replace").strip()
        raise SandboxError(f"{' '.join(command[:3])}: {said or exc.returncode}") from None
