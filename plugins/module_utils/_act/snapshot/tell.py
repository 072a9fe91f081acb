# SPDX-License-Identifier: GPL-3.0-or-later
"""Have those who read a changed file read it again."""

from __future__ import annotations

import os

from ..._data.managed_files import GRUB, INITRAMFS, SYSTEMD, UDEV
from ..._ground.command import is_there
from ..packages.model import PackageError
from ..packages.run import Runner


def commands(whom: str, kernel: str, root: str = "/") -> list[list[str]]:
    """What to run; nothing where there is nobody to tell."""
    if whom == SYSTEMD:
        running = os.path.isdir(os.path.join(root, "run/systemd/system"))
        return [["systemctl", "daemon-reload"]] if running else []
    if whom == UDEV:
        return [["udevadm", "control", "--reload"]]
    if whom == GRUB:
        return [["update-grub"]]
    if whom == INITRAMFS:
        return [
            argv
            for image, argv in (
                (f"boot/initrd.img-{kernel}", ["update-initramfs", "-u", "-k", kernel]),
                (f"boot/initramfs-{kernel}.img", ["dracut", "--force", "--kver", kernel]),
            )
            if os.path.exists(os.path.join(root, image))
        ]
    return []


def tell(whom: str, run: Runner, kernel: str, root: str = "/") -> str:
    """Run them; what was run, "" for nothing. PackageError for one that fails."""
    done = []
    for argv in commands(whom, kernel, root):
        if not is_there(argv[0]):
            continue
        said = run(argv)
        # A udev that does not run has nothing to read again.
        if said.rc != 0 and whom != UDEV:
            raise PackageError(
                "failed",
                f"`{' '.join(argv)}` failed after files were put back",
                "fix that and run this again",
                (said.stderr or said.stdout).strip()[:500],
                changed=True,
            )
        done.append(" ".join(argv))
    return "; ".join(done)
