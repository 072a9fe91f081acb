# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages by which an RDMA stack is known, and which of them belong together (rdma_packages.yml)."""

from __future__ import annotations

from ._rows import rdma_packages as rows

INBOX = "inbox"
MLNX_OFED = "mlnx_ofed"
DOCA = "doca"

METAS: dict[str, tuple[str, ...]] = rows.METAS
# Meta packages without kernel modules end like this.
USERSPACE = ("-userspace", "-user-only")
KERNEL: tuple[str, ...] = rows.KERNEL
# Built from one source package each (rdma-core), so all of them must come from one stack.
# The first is the one that every RDMA program loads.
CORE = ("libibverbs1", "libibverbs")
LIBRARIES: tuple[str, ...] = rows.LIBRARIES
# A vendor's build carries this in its version, or counts by year and month (2410, 2510) where
# rdma-core has two digits. Confirmed by package lists of the field.
VENDOR_MARK = "mlnx"
FIRST_VENDOR_NUMBER = 1000
# MLNX_OFED 4 counted its libraries otherwise: 41mlnx1-OFED.4.9.3.
OLD_SCHEME = "OFED."

BY_NAME: dict[str, str] = rows.BY_NAME

WATCHED: tuple[str, ...] = rows.WATCHED

LIBRARY_FOLDERS: tuple[str, ...] = rows.LIBRARY_FOLDERS
