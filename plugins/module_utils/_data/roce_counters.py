# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters of RoCE ports that tell of loss and of congestion, by driver (roce_counters.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import roce_counters as rows

# What a rise means for jobs: packets or connections are lost now, or the rail is held back now.
LOSS = "loss"
CONGESTION = "congestion"
# Where it is told: ports/N/hw_counters of the RDMA device, or `ethtool -S` of its interface.
HW = "hw_counters"
ETHTOOL = "ethtool -S"
# Stands for the priority in a name; of those with flow control each has a counter of its own.
PRIORITY = "{}"
# The driver whose `ethtool -S` is read: it tells its channels last, so that what is cut is seen.
ETHTOOL_DRIVER = "mlx5_core"
LAST_LINES = "ch0_"


@dataclass(frozen=True)
class Counter:
    """It is a fault when between two looks it rose by at least ``at_least`` and faster than ``per_s``.

    ``means``: what its rise says.
    """

    name: str
    home: str
    harm: str
    means: str
    per_s: float
    at_least: int
    source: str
    confidence: str = "medium"


COUNTERS: tuple[Counter, ...] = load(Counter, rows.COUNTERS)
