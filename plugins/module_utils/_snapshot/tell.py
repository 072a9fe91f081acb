# SPDX-License-Identifier: GPL-3.0-or-later
"""Have those who read a changed file read it again."""

from __future__ import annotations

import os
from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Unavailable,
    find_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.managed_files import (
    GRUB,
    INITRAMFS,
    SYSTEMD,
    UDEV,
)
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._packages.run import Runner


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
        if not _there(argv):
            continue
        said = run(argv)
        # A udev that does not run has nothing to read again.
        if said.rc != 0 and whom != UDEV:
            raise PackageError(
                "failed",
                f"`{' '.join(argv)}` failed after files were put back",
                "mend that and run this again",
                (said.stderr or said.stdout).strip()[:500],
                changed=True,
            )
        done.append(" ".join(argv))
    return "; ".join(done)


def _there(argv: Sequence[str]) -> bool:
    try:
        find_program(argv[0])
    except Unavailable:
        return False
    return True
