# SPDX-License-Identifier: GPL-3.0-or-later
"""Which packages bring a host its next kernel, and which bring modules that are built for the one it has.

With the former free to move, an unattended upgrade leaves the latter behind at the next boot.
"""

from __future__ import annotations

import re

from .dkms import is_dkms

# The ledger of the kernel's own holds: no part brought these packages, so none takes them away.
LEDGER = "kernel"
# linux-image-generic, linux-headers-amd64, and no package of a single version.
DEB = re.compile(r"linux-(?:image|headers)-(?!\d|unsigned-\d)[a-z0-9.+-]+")
RPM = re.compile(r"kernel(?:-uek|-rt|-64k)?(?:-core|-modules|-modules-core|-modules-extra|-devel|-devel-matched)?")
_MODULES = re.compile(r"kmod-(?!libs$).+|linux-modules-nvidia-.+|.*ofa_kernel.*|doca-kernel.*")


def has_modules(package: str) -> bool:
    """Whether a package's name says that it brings modules for a kernel, or their sources."""
    return is_dkms(package) or _MODULES.fullmatch(package) is not None
