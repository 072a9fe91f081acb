# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check id once: title, severity, meaning, likely causes, remedy.

The entries lie in _entries/, one file an area. docs/checks.md is generated from here (`./run
docs`). Ids are stable once released.
"""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries import (
    bench,
    container,
    fabric,
    fabric_wide,
    fleet,
    gpu,
    host,
    ib,
    nccl,
    nvlink,
    pci,
    rdma,
    roce,
    stack,
)
from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

__all__ = ["CATALOG", "Entry", "entry"]

_AREAS = (
    *(host, pci, ib, roce, fabric, fabric_wide, gpu, nvlink, stack, nccl, container),
    *(rdma, fleet, bench),
)

CATALOG: dict[str, Entry] = {one.id: one for area in _AREAS for one in area.ENTRIES}


def entry(check_id: str) -> Entry:
    """The catalog's entry; an id that is not in it is a programming error (KeyError)."""
    return CATALOG[check_id]
