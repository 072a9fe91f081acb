# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check id once: title, consequence, meaning, likely causes, remedy.

The rows lie with their areas (_areas/AREA/checks.yml) and in _fleet/. docs/checks.md is
generated from them (`./run docs`). Ids are stable once released.
"""

from __future__ import annotations

from .. import _fleet as fleet
from .._areas import container, fabric, gpu, host, ib, nccl, nvlink, pci, roce, stack
from .._ground.catalog import Entry, entry

__all__ = ["CATALOG", "Entry", "entry"]

_IN_ORDER = (
    *(host.ENTRIES, pci.ENTRIES, ib.ENTRIES, roce.ENTRIES, fabric.ENTRIES, fabric.WIDE, gpu.ENTRIES, nvlink.ENTRIES),
    *(stack.ENTRIES, nccl.HOST, nccl.LOG, container.ENTRIES),
    *(fleet.RDMA, fleet.SWITCH, fleet.INCAST, fleet.EQUALS, fleet.BENCH),
)

CATALOG: dict[str, Entry] = {each.id: each for entries in _IN_ORDER for each in entries}
