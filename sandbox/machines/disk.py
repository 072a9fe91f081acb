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
    """Write `root` (which only root may read in full) into a sparse disk image that the BIOS boots."""
    filesystem(root, disk, GIB, _FIRST * _SECTOR)
    boot = (root / _GRUB / "boot.img").read_bytes()
    core = (root / _GRUB / "core.img").read_bytes()
    if len(core) > (_FIRST - 1) * _SECTOR:
        raise SandboxError(f"GRUB's core has {len(core)} bytes and does not fit before 1 MiB")
    with disk.open("r+b") as file:
        file.write(boot_sector(boot, (GIB << 30) // _SECTOR))
        file.write(core)


def filesystem(root: Path, disk: Path, gib: int, offset: int = 0) -> None:
    """Write `root` as ext4 into a sparse image of so many GiB, from `offset` (bytes) to its end."""
    with disk.open("wb") as file:
        file.truncate(gib << 30)
    # Everything is written now: the machine's kernel would do it later, and slower.
    run(
        [
            *podman.prefix(),
            "mkfs.ext4",
            "-q",
            "-F",
            *("-i", "32768"),
            *("-E", f"offset={offset},lazy_itable_init=0,lazy_journal_init=0,nodiscard"),
            *("-d", str(root)),
            str(disk),
            f"{((gib << 30) - offset) >> 20}M",
        ]
    )


def overlay(base: Path, disk: Path) -> None:
    """Make an empty layer over a base image, in the place of an older one."""
    disk.unlink(missing_ok=True)
    if shutil.which("qemu-img") is None:
        raise SandboxError("qemu-img is not installed (apt install qemu-utils)")
    run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(base), str(disk)])


def run(command: Sequence[str], data: bytes | None = None) -> None:
    """Run a command to its end, with `data` as its standard input."""
    try:
        subprocess.run(command, check=True, input=data or b"", capture_output=True, timeout=300)
    except FileNotFoundError:
        raise SandboxError(f"{command[0]} is not installed") from None
    except subprocess.CalledProcessError as exc:
        said = exc.stderr.decode(errors="replace").strip()
        raise SandboxError(f"{' '.join(command[:3])}: {said or exc.returncode}") from None
