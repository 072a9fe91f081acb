# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check id once: title, consequence, meaning, likely causes, remedy.

The rows lie with their areas (_areas/AREA/checks.yml) and in _fleet/. docs/checks.md is
generated from them (`./run docs`). Ids are stable once released.
"""

from __future__ import annotations

from .._areas.container import ENTRIES as CONTAINER
from .._areas.fabric import ENTRIES as FABRIC, WIDE
from .._areas.gpu import ENTRIES as GPU
from .._areas.host import ENTRIES as HOST
from .._areas.ib import ENTRIES as IB
from .._areas.nccl import HOST as NCCL, LOG
from .._areas.nvlink import ENTRIES as NVLINK
from .._areas.pci import ENTRIES as PCI
from .._areas.roce import ENTRIES as ROCE
from .._areas.stack import ENTRIES as STACK
from .._fleet.checks import BENCH, EQUALS, INCAST, RDMA, SWITCH
from .._ground.catalog import Entry, entry

__all__ = ["CATALOG", "Entry", "entry"]

_IN_ORDER = (
    *(HOST, PCI, IB, ROCE, FABRIC, WIDE, GPU, NVLINK, STACK, NCCL, LOG, CONTAINER),
    *(RDMA, SWITCH, INCAST, EQUALS, BENCH),
)

CATALOG: dict[str, Entry] = {each.id: each for entries in _IN_ORDER for each in entries}
