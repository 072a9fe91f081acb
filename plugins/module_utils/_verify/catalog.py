# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check id once: title, severity, meaning, likely causes, remedy.

The entries lie with their areas (_areas/AREA/entries.py) and in _fleet/. docs/checks.md is
generated from here (`./run docs`). Ids are stable once released.
"""

from __future__ import annotations

from .._areas.container import entries as container
from .._areas.fabric import entries as fabric, entries_wide
from .._areas.gpu import entries as gpu
from .._areas.host import entries as host, entries_machine
from .._areas.ib import entries as ib
from .._areas.nccl import entries as nccl
from .._areas.nvlink import entries as nvlink
from .._areas.pci import entries as pci
from .._areas.roce import entries as roce
from .._areas.stack import entries as stack
from .._fleet import entries as fleet, entries_bench, entries_incast, entries_rdma, entries_switch
from .._ground.catalog import Entry, entry

__all__ = ["CATALOG", "Entry", "entry"]

_AREAS = (
    *(host, entries_machine, pci, ib, roce, fabric, entries_wide, gpu, nvlink, stack, nccl, container),
    *(entries_rdma, entries_switch, entries_incast, fleet, entries_bench),
)

CATALOG: dict[str, Entry] = {entry.id: entry for area in _AREAS for entry in area.ENTRIES}
