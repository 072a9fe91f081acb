# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU models: what their NVLink, driver modules and PCI ids are (gpus.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import gpus as rows

OPEN_ONLY = "open"
PROPRIETARY_ONLY = "proprietary"
EITHER = "either"

SXM = "sxm"
CARD = "card"
SUPERCHIP = "superchip"


@dataclass(frozen=True)
class Gpu:
    """One GPU model.

    ``links``: the link counts per GPU that are whole (0: no bridge fitted, or no NVLink at all).
    ``link_gbps``: GB/s per link and direction as nvidia-smi prints it, 0.0 without NVLink.
    ``names``: beginnings of nvidia-smi's product name that mean this model and no other.
    ``form``: SXM module on a baseboard, PCIe card, or on one package with its processor.
    """

    model: str
    architecture: str
    pci_ids: tuple[str, ...]
    names: tuple[str, ...]
    links: tuple[int, ...]
    link_gbps: float
    modules: str
    pcie_gen: int = 0
    form: str = CARD
    source: str = "general knowledge of the product line"
    confidence: str = "recalled"


GPUS: tuple[Gpu, ...] = load(Gpu, rows.GPUS)
