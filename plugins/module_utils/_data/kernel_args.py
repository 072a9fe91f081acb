# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel command line that a training node may want (kernel_args.yml)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.table import load
from ._rows import kernel_args as rows

X86, ARM = "x86_64", "aarch64"
INTEL, AMD = "GenuineIntel", "AuthenticAMD"


@dataclass(frozen=True)
class KernelArg:
    """One argument, and the hosts that it is for.

    ``word``: the word in the inventory that stands for it. ``cpu``: the processor's vendor_id, ""
    for any. ``superchip``: only where GPU and processor are one package (Grace).
    """

    word: str
    text: str
    arch: str
    why: str
    cpu: str = ""
    superchip: bool = False
    source: str = ""
    confidence: str = "confirmed"


AUTO, SRIOV = "auto", "sriov"

KERNEL_ARGS: tuple[KernelArg, ...] = load(KernelArg, rows.KERNEL_ARGS)
WORDS = frozenset(kernel_arg.word for kernel_arg in KERNEL_ARGS)

REPEATABLE: frozenset[str] = frozenset(rows.REPEATABLE)

# What an argument may hold where a shell reads the file, and so does GRUB.
SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:=/@+%-]*")
