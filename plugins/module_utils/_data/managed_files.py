# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file that ibready writes on a node, or may: what a snapshot holds, and nothing else (managed_files.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import managed_files as rows

# What has to be told of a changed file.
SYSTEMD, UDEV, GRUB, INITRAMFS = "systemd", "udev", "grub", "initramfs"


@dataclass(frozen=True)
class Managed:
    """Files by a glob. ``repository``: the package manager reads it, so it goes back first."""

    glob: str
    repository: bool = False
    tell: str = ""


MANAGED: tuple[Managed, ...] = load(Managed, rows.MANAGED)
LEFT_OUT: tuple[str, ...] = rows.LEFT_OUT
