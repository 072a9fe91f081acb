# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a job can be switched off by itself, to see what it is worth (bench_switches.yml)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

from .._ground.table import load
from ._rows import bench_switches as rows

# Stands for a rail that all hosts have: device and port.
RAIL = "{rail}"


@dataclass(frozen=True)
class Switch:
    """``nccl``, ``mpi``: the environment that switches it, by job; none where that job does not have it."""

    name: str
    means: str
    nccl: Mapping[str, str]
    mpi: Mapping[str, str]
    same: str


SWITCHES: tuple[Switch, ...] = load(Switch, rows.SWITCHES)
NAMES = tuple(switch.name for switch in SWITCHES)
