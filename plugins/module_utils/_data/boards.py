# SPDX-License-Identifier: GPL-3.0-or-later
"""Boards: GPUs that are sold and cabled together, and what belongs beside them (boards.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import boards as rows


@dataclass(frozen=True)
class Board:
    """One hardware profile.

    ``products``: DMI product names (beginnings) that mean this board and no other; without one the
    board is told by GPU model, NVSwitches and count. ``nvswitch``: PCI device id (vendor 10de) and
    count; "" where NVSwitches do not show on the PCI bus. ``rails``: InfiniBand or RoCE fabric HCAs
    that the reference design has at least, and the Gb/s of each; 0 where the site chooses.
    ``nvlsm_ports``: HCA functions that lead to the NVLink switches (field reports; medium).
    """

    name: str
    title: str
    gpu: str  # Gpu.model
    gpus: int
    products: tuple[str, ...] = ()
    nvswitch: str = ""
    nvswitches: int = 0
    fabric_manager: bool = False
    nvlsm: bool = False
    nvlsm_ports: int = 0
    imex: bool = False
    rails: int = 0
    rail_gbps: float = 0.0
    source: str = ""
    confidence: str = "recalled"

    @property
    def fabric(self) -> bool:
        """Whether the GPUs are joined by NVSwitches, so that nvidia-smi shows a fabric state."""
        return self.fabric_manager or self.imex


BOARDS: tuple[Board, ...] = load(Board, rows.BOARDS)
