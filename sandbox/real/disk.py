# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host becomes a machine by: its files on a disk, and a partition from which UEFI's Secure Boot starts it."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from sandbox import podman
from sandbox.errors import SandboxError
from sandbox.machines import disk
from sandbox.machines.seed import MANAGEMENT
from sandbox.parcel import pack
from sandbox.real.host import Hosts

_OVMF = Path("/usr/share/OVMF")
_SECONDS = 300
_GIB, _BOOT_MB = 8, 64
# What a container needs and a machine must not have: the kernel's name is its own here.
_LEFT_OUT = ("etc/ld.so.preload", "etc/systemd/system/sysinit.target.wants/ibready-kernel-name.service")
_OPTIONS = (
    "root=/dev/vda ro console=ttyS0 net.ifnames=0 mitigations=off panic=10 systemd.wants=systemd-networkd.service"
)
# Debian's, signed by Microsoft's and Debian's keys: the first loads the second, or MokManager where a key waits.
_SIGNED = {
    "usr/lib/shim/shimx64.efi.signed": "BOOTX64.EFI",
    "usr/lib/shim/mmx64.efi.signed": "mmx64.efi",
    "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed": "grubx64.efi",
}
_GRUB = """\
search --no-floppy --file --set=root /boot/vmlinuz-{kernel}
linux /boot/vmlinuz-{kernel} {options}
initrd /boot/initrd.img-{kernel}
boot
"""
_MARK = {
    "simulated": True,
    "hardware": True,
    "what": "one GPU on the PCI bus, which never starts; processor, disk and network card are emulated",
}


def write(box: Hosts, node: str) -> None:
    """Write a host's files as they are now to a disk, and beside it what its firmware starts from."""
    with _files(box, node) as root:
        kernels = sorted(root.glob("boot/vmlinuz-*"))
        if len(kernels) != 1:
            raise SandboxError(f"{node} has {len(kernels)} kernels in /boot, and a machine starts its only one")
        shutil.copy(kernels[0], box.file(node, "kernel"))
        box.file(node, "disk").unlink(missing_ok=True)
        disk.filesystem(root, box.file(node, "disk"), _GIB)
        _boot(root, kernels[0].name.removeprefix("vmlinuz-"), box.file(node, "boot"))
    # The firmware knows Microsoft's keys, and none of the site.
    shutil.copy(_variables(), box.file(node, "variables"))


def firmware() -> Path:
    """Return UEFI's program that has Secure Boot."""
    return _there(_OVMF / "OVMF_CODE_4M.ms.fd")


def _variables() -> Path:
    return _there(_OVMF / "OVMF_VARS_4M.ms.fd")


def _there(file: Path) -> Path:
    if not file.exists():
        raise SandboxError(f"{file} is not there: apt install ovmf")
    return file


@contextlib.contextmanager
def _files(box: Hosts, node: str) -> Iterator[Path]:
    """Unpack a container's files, with what makes a machine of them."""
    changed = pack(
        {
            "etc/hostname": (f"{node}\n", 0o644),
            "etc/hosts": (f"127.0.0.1 localhost\n127.0.1.1 {node}\n", 0o644),
            "etc/resolv.conf": ("nameserver 10.0.2.3\n", 0o644),
            "etc/fstab": ("/dev/vda / ext4 errors=remount-ro 0 1\n", 0o644),
            "etc/systemd/network/10-management.network": (MANAGEMENT, 0o644),
            "etc/ibready-sandbox.json": (json.dumps(_MARK) + "\n", 0o644),
        }
    )
    root, whole = box.file(node, "root"), box.file(node, "tar")
    root.mkdir()
    unpack = [*podman.prefix(), "tar", "--extract", "--directory", str(root)]
    try:
        podman.run(["export", f"--output={whole}", box.container(node)], timeout=_SECONDS)
        disk.run([*unpack, f"--file={whole}", *(f"--exclude={path}" for path in _LEFT_OUT)])
        disk.run([*unpack, "--no-same-owner"], changed)
        yield root
    finally:
        whole.unlink(missing_ok=True)
        disk.run([*podman.prefix(), "rm", "-rf", "--one-file-system", str(root)])


def _boot(root: Path, kernel: str, boot: Path) -> None:
    """Write the EFI system partition."""
    with boot.open("wb") as file:
        file.truncate(_BOOT_MB << 20)
    settings = boot.with_suffix(".grub")
    settings.write_text(_GRUB.format(kernel=kernel, options=_OPTIONS))
    disk.run(["mformat", "-i", str(boot), "-F", "::"])
    disk.run(["mmd", "-i", str(boot), "::/EFI", "::/EFI/BOOT", "::/EFI/debian"])
    for path, name in _SIGNED.items():
        disk.run(["mcopy", "-i", str(boot), str(root / path), f"::/EFI/BOOT/{name}"])
    # Where GRUB looks for it depends on how it was started.
    for folder in ("BOOT", "debian"):
        disk.run(["mcopy", "-i", str(boot), str(settings), f"::/EFI/{folder}/grub.cfg"])
    settings.unlink()
