# SPDX-License-Identifier: GPL-3.0-or-later
"""Every area, by name and in reading order: what is wrong below before what fails because of it."""

from __future__ import annotations

from typing import Sequence

from .._areas.container.area import AREA as container
from .._areas.fabric.area import AREA as fabric
from .._areas.gpu.area import AREA as gpu
from .._areas.host.area import AREA as host
from .._areas.ib.area import AREA as ib
from .._areas.nccl.area import AREA as nccl
from .._areas.nvlink.area import AREA as nvlink
from .._areas.pci.area import AREA as pci
from .._areas.roce.area import AREA as roce
from .._areas.stack.area import AREA as stack
from .._evidence.sources import Evidence, Questions
from .._expect.expectations import Expectations
from .look import Judged, look

ALL = (host, pci, ib, roce, fabric, gpu, nvlink, stack, nccl, container)
AREAS = tuple(area.name for area in ALL)
# What a live host may be asked by programs of ours.
QUESTIONS: Questions = {name: ask for area in ALL for name, ask in area.questions.items()}


def verify(evidence: Evidence, expect: Expectations, areas: Sequence[str] = AREAS) -> Judged:
    """Every check of these areas (names of AREAS)."""
    return look(evidence, expect, [area for area in ALL if area.name in areas])
