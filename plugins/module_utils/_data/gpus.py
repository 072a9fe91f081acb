# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU models: what their NVLink, driver modules and PCI ids are. Data only.

``source``/``confidence``: confirmed (read in a source), medium (one secondary source or inferred),
recalled (general knowledge, not checked). Sources: NVIDIA's open driver README per tag (PCI ids),
nvidia-smi outputs of the field (links and GB/s), GPU driver container and GPU Operator (modules).
"""

from __future__ import annotations

from dataclasses import dataclass

OPEN_ONLY = "open"
PROPRIETARY_ONLY = "proprietary"
EITHER = "either"


@dataclass(frozen=True)
class Gpu:
    """One GPU model.

    ``links``: the link counts per GPU that are whole (0: no bridge fitted, or no NVLink at all).
    ``link_gbps``: GB/s per link and direction as nvidia-smi prints it, 0.0 without NVLink.
    ``names``: beginnings of nvidia-smi's product name that mean this model and no other.
    """

    model: str
    architecture: str
    pci_ids: tuple[str, ...]
    names: tuple[str, ...]
    links: tuple[int, ...]
    link_gbps: float
    modules: str
    pcie_gen: int = 0
    source: str = "general knowledge of the product line"
    confidence: str = "recalled"


GPUS = (
    Gpu(
        "V100 SXM2",
        "Volta",
        ("1db1", "1db5"),
        ("Tesla V100-SXM2",),
        (6,),
        25.781,
        PROPRIETARY_ONLY,
        pcie_gen=3,
        source="nvidia-smi nvlink outputs of DGX-1 hosts",
        confidence="confirmed",
    ),
    Gpu(
        "V100 SXM3",
        "Volta",
        ("1db8",),
        ("Tesla V100-SXM3",),
        (6,),
        25.781,
        PROPRIETARY_ONLY,
        pcie_gen=3,
    ),
    Gpu(
        "V100 PCIe",
        "Volta",
        ("1db4", "1db6"),
        ("Tesla V100-PCIE", "Tesla V100S-PCIE"),
        (0,),
        0.0,
        PROPRIETARY_ONLY,
        pcie_gen=3,
    ),
    Gpu("T4", "Turing", ("1eb8",), ("Tesla T4",), (0,), 0.0, EITHER, pcie_gen=3),
    Gpu(
        "A100 SXM4",
        "Ampere",
        ("20b0", "20b2"),
        ("NVIDIA A100-SXM4", "A100-SXM4"),
        (12,),
        25.0,
        EITHER,
        pcie_gen=4,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "A100 PCIe",
        "Ampere",
        ("20f1", "20b5"),
        ("NVIDIA A100-PCIE", "A100-PCIE", "NVIDIA A100 80GB PCIe"),
        (0, 12),
        25.0,
        EITHER,
        pcie_gen=4,
    ),
    Gpu(
        "A800 SXM4",
        "Ampere",
        ("20f3", "20bd"),
        ("NVIDIA A800-SXM4",),
        (8,),
        25.0,
        EITHER,
        pcie_gen=4,
    ),
    Gpu("A30", "Ampere", ("20b7",), ("NVIDIA A30",), (0, 4), 25.0, EITHER, pcie_gen=4),
    Gpu("A40", "Ampere", ("2235",), ("NVIDIA A40",), (0, 4), 14.062, EITHER, pcie_gen=4),
    Gpu("A10", "Ampere", ("2236", "2237"), ("NVIDIA A10",), (0,), 0.0, EITHER, pcie_gen=4),
    Gpu(
        "RTX A6000 / A5000",
        "Ampere",
        ("2230", "2231"),
        ("NVIDIA RTX A6000", "RTX A6000", "NVIDIA RTX A5000", "RTX A5000"),
        (0, 4),
        14.062,
        EITHER,
        pcie_gen=4,
        source="nvidia-smi nvlink output of a bridged pair",
        confidence="confirmed",
    ),
    Gpu(
        "H100 SXM5",
        "Hopper",
        ("2330",),
        ("NVIDIA H100 80GB HBM3",),
        (18,),
        26.562,
        EITHER,
        pcie_gen=5,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "H100 PCIe",
        "Hopper",
        ("2331",),
        ("NVIDIA H100 PCIe",),
        (0, 12),
        26.562,
        EITHER,
        pcie_gen=5,
        source="open driver README; links recalled",
        confidence="medium",
    ),
    Gpu("H100 NVL", "Hopper", ("2321",), ("NVIDIA H100 NVL",), (0, 12), 26.562, EITHER, pcie_gen=5),
    Gpu(
        "H800 SXM",
        "Hopper",
        ("2324",),
        ("NVIDIA H800",),
        (8,),
        26.562,
        EITHER,
        pcie_gen=5,
        source="nvidia-smi nvlink outputs; link count recalled",
        confidence="medium",
    ),
    Gpu(
        "H800 PCIe", "Hopper", ("2322",), ("NVIDIA H800 PCIe",), (0, 8), 26.562, EITHER, pcie_gen=5
    ),
    Gpu(
        "H20",
        "Hopper",
        ("2329", "232c"),
        ("NVIDIA H20",),
        (18,),
        26.562,
        EITHER,
        pcie_gen=5,
        source="open driver README; links recalled",
        confidence="medium",
    ),
    Gpu(
        "H200 SXM",
        "Hopper",
        ("2335",),
        ("NVIDIA H200",),
        (18,),
        26.562,
        EITHER,
        pcie_gen=5,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "H200 NVL",
        "Hopper",
        ("233b",),
        ("NVIDIA H200 NVL",),
        (0, 18),
        26.562,
        EITHER,
        pcie_gen=5,
        source="vendor product pages",
        confidence="medium",
    ),
    Gpu(
        "GH200",
        "Hopper",
        ("2342", "2348"),
        ("NVIDIA GH200",),
        (0, 18),
        26.562,
        OPEN_ONLY,
        pcie_gen=5,
        source="open driver README",
        confidence="medium",
    ),
    Gpu(
        "L4 / L40 / L40S / L20",
        "Ada",
        ("27b8", "26b5", "26b9", "26ba"),
        ("NVIDIA L4", "NVIDIA L40", "NVIDIA L40S", "NVIDIA L20"),
        (0,),
        0.0,
        EITHER,
        pcie_gen=4,
    ),
    Gpu(
        "B200 SXM",
        "Blackwell",
        ("2901",),
        ("NVIDIA B200",),
        (18,),
        53.125,
        OPEN_ONLY,
        pcie_gen=5,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "B300 SXM6",
        "Blackwell",
        ("3182",),
        ("NVIDIA B300",),
        (18,),
        53.125,
        OPEN_ONLY,
        pcie_gen=6,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "GB200",
        "Blackwell",
        ("2941",),
        ("NVIDIA GB200",),
        (18,),
        53.125,
        OPEN_ONLY,
        pcie_gen=5,
        source="nvidia-smi nvlink outputs; open driver README",
        confidence="confirmed",
    ),
    Gpu(
        "GB300",
        "Blackwell",
        ("31c2",),
        ("NVIDIA GB300",),
        (18,),
        53.125,
        OPEN_ONLY,
        pcie_gen=6,
        source="open driver README",
        confidence="medium",
    ),
    Gpu(
        "RTX PRO 6000 Blackwell Server",
        "Blackwell",
        ("2bb5",),
        ("NVIDIA RTX PRO 6000 Blackwell",),
        (0,),
        0.0,
        OPEN_ONLY,
        pcie_gen=5,
        source="open driver README",
        confidence="confirmed",
    ),
)
