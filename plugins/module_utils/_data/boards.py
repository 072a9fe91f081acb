# SPDX-License-Identifier: GPL-3.0-or-later
"""Boards: GPUs that are sold and cabled together, and what belongs beside them. Data only.

``source``/``confidence`` as in gpus.py. Sources: NVIDIA's HGX/DGX documents, driver container
start scripts, DGX OS package sets, field health checks (counts of HCAs and their rates).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial


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


_HGX = "HGX reference design; field health checks"
_DGX = "DGX user guide; DGX OS package set"

# What boards with eight GPUs of one generation have alike, and the compute nodes of a rack.
_a100 = partial(Board, nvswitch="1af1", nvswitches=6, fabric_manager=True, rails=8, rail_gbps=200)
_h100 = partial(Board, nvswitch="22a3", nvswitches=4, fabric_manager=True, rails=8, rail_gbps=400)
_b200 = partial(Board, fabric_manager=True, nvlsm=True, nvlsm_ports=4, rails=8, confidence="medium")
_nvl72 = partial(
    Board,
    imex=True,
    rails=4,
    source="NVL72 documents; NVLink switches and their manager live in switch trays",
    confidence="medium",
)

BOARDS = (
    Board(
        "dgx-1-v100",
        "DGX-1 with 8x V100 SXM2",
        "V100 SXM2",
        8,
        ("DGX-1 with V100", "NVIDIA DGX-1"),
        rails=4,
        rail_gbps=100,
        source=_DGX,
    ),
    Board(
        "hgx-2-v100",
        "HGX-2 with 8x V100 SXM3",
        "V100 SXM3",
        8,
        nvswitch="1ac2",
        nvswitches=6,
        fabric_manager=True,
        source=_HGX,
    ),
    Board(
        "dgx-2",
        "DGX-2: two HGX-2 boards, 16x V100 SXM3",
        "V100 SXM3",
        16,
        ("DGX-2", "NVIDIA DGX-2"),
        nvswitch="1ac2",
        nvswitches=12,
        fabric_manager=True,
        rails=8,
        rail_gbps=100,
        source=_DGX,
    ),
    _a100(
        "dgx-a100-8",
        "DGX A100",
        "A100 SXM4",
        8,
        ("DGXA100", "DGX A100", "NVIDIA DGX A100"),
        source=_DGX,
        confidence="medium",
    ),
    _a100("hgx-a100-8", "HGX A100 8-GPU", "A100 SXM4", 8, source=_HGX, confidence="medium"),
    Board(
        "hgx-a100-16",
        "HGX A100 16-GPU: two boards",
        "A100 SXM4",
        16,
        nvswitch="1af1",
        nvswitches=12,
        fabric_manager=True,
        source=_HGX,
    ),
    Board("hgx-a100-4", "HGX A100 4-GPU (direct links)", "A100 SXM4", 4, source=_HGX),
    _a100("hgx-a800-8", "HGX A800 8-GPU", "A800 SXM4", 8, source=_HGX),
    _h100(
        "dgx-h100-8",
        "DGX H100",
        "H100 SXM5",
        8,
        ("DGXH100", "DGX H100", "NVIDIA DGX H100"),
        source=_DGX,
        confidence="medium",
    ),
    _h100("hgx-h100-8", "HGX H100 8-GPU", "H100 SXM5", 8, source=_HGX, confidence="medium"),
    Board("hgx-h100-4", "HGX H100 4-GPU (direct links)", "H100 SXM5", 4, source=_HGX),
    _h100("hgx-h800-8", "HGX H800 8-GPU", "H800 SXM", 8, source=_HGX),
    Board(
        "hgx-h20-8",
        "HGX H20 8-GPU",
        "H20",
        8,
        nvswitch="22a3",
        nvswitches=4,
        fabric_manager=True,
        # H20 hosts are sold with four or eight HCAs: the site chooses.
        source=_HGX,
    ),
    _h100(
        "dgx-h200-8",
        "DGX H200",
        "H200 SXM",
        8,
        ("DGXH200", "DGX H200", "NVIDIA DGX H200"),
        source=_DGX,
        confidence="medium",
    ),
    _h100("hgx-h200-8", "HGX H200 8-GPU", "H200 SXM", 8, source=_HGX, confidence="medium"),
    Board("hgx-h200-4", "HGX H200 4-GPU (direct links)", "H200 SXM", 4, source=_HGX),
    _b200(
        "dgx-b200-8",
        "DGX B200",
        "B200 SXM",
        8,
        ("DGXB200", "DGX B200", "NVIDIA DGX B200"),
        rail_gbps=400,
        source=_DGX,
    ),
    _b200("hgx-b200-8", "HGX B200 8-GPU", "B200 SXM", 8, rail_gbps=400, source=_HGX),
    _b200(
        "dgx-b300-8",
        "DGX B300",
        "B300 SXM6",
        8,
        ("DGXB300", "DGX B300", "NVIDIA DGX B300"),
        rail_gbps=800,
        source=_DGX,
    ),
    _b200("hgx-b300-8", "HGX B300 8-GPU", "B300 SXM6", 8, rail_gbps=800, source=_HGX),
    _nvl72("gb200-nvl72-node", "GB200 NVL72 compute node", "GB200", 4, rail_gbps=400),
    _nvl72("gb300-nvl72-node", "GB300 NVL72 compute node", "GB300", 4, rail_gbps=800),
)
