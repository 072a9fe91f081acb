# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU models: what their NVLink, driver modules and PCI ids are. Data only.

``source``/``confidence``: confirmed (read in a source), medium (one secondary source or inferred),
recalled (general knowledge, not checked). Sources: NVIDIA's open driver README per tag (PCI ids),
nvidia-smi outputs of the field (links and GB/s), GPU driver container and GPU Operator (modules).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

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


# Where an entry is from: source and confidence.
_RECALLED = ("general knowledge of the product line", "recalled")
_README = ("open driver README", "confirmed")
_README_ALONE = ("open driver README", "medium")
_LINKS_RECALLED = ("open driver README; links recalled", "medium")
_NO_LINKS_RECALLED = ("open driver README; no NVLink recalled", "medium")
_SEEN = ("nvidia-smi nvlink outputs; open driver README", "confirmed")


def _of(architecture: str, link_gbps: float, modules: str, pcie_gen: int) -> Callable[..., Gpu]:
    """Makes a model of one architecture from what is its own: model, PCI ids, names, links and the rest."""
    common = {"link_gbps": link_gbps, "modules": modules, "pcie_gen": pcie_gen}

    def gpu(
        model: str,
        pci_ids: tuple[str, ...],
        names: tuple[str, ...],
        links: tuple[int, ...],
        *,
        origin: tuple[str, str] = _RECALLED,
        **own: Any,
    ) -> Gpu:
        source, confidence = origin
        shared = {**common, **own, "source": source, "confidence": confidence}
        return Gpu(model, architecture, pci_ids, names, links, **shared)

    return gpu


# What most models of an architecture have.
_volta = _of("Volta", 25.781, PROPRIETARY_ONLY, pcie_gen=3)
_turing = _of("Turing", 0.0, EITHER, pcie_gen=3)
_ampere = _of("Ampere", 25.0, EITHER, pcie_gen=4)
_hopper = _of("Hopper", 26.562, EITHER, pcie_gen=5)
_ada = _of("Ada", 0.0, EITHER, pcie_gen=4)
_blackwell = _of("Blackwell", 53.125, OPEN_ONLY, pcie_gen=5)

GPUS = (
    _volta(
        "V100 SXM2",
        ("1db1", "1db5"),
        ("Tesla V100-SXM2",),
        (6,),
        form=SXM,
        origin=("nvidia-smi nvlink outputs of DGX-1 hosts", "confirmed"),
    ),
    _volta("V100 SXM3", ("1db8",), ("Tesla V100-SXM3",), (6,), form=SXM),
    _volta("V100 PCIe", ("1db4", "1db6", "1df6"), ("Tesla V100-PCIE", "Tesla V100S-PCIE"), (0,), link_gbps=0.0),
    _turing("T4", ("1eb8",), ("Tesla T4",), (0,), origin=_README),
    _ampere(
        "A100 SXM4",
        ("20b0", "20b2"),
        ("NVIDIA A100-SXM4", "A100-SXM4", "NVIDIA A100-PG509", "NVIDIA PG509"),
        (12,),
        form=SXM,
        origin=_SEEN,
    ),
    _ampere(
        "A100 PCIe",
        ("20f1", "20b5"),
        ("NVIDIA A100-PCIE", "A100-PCIE", "NVIDIA A100 80GB PCIe"),
        (0, 12),
        origin=_LINKS_RECALLED,
    ),
    _ampere("A800 SXM4", ("20f3", "20bd"), ("NVIDIA A800-SXM4",), (8,), form=SXM, origin=_LINKS_RECALLED),
    _ampere("A800 PCIe", ("20f5",), ("NVIDIA A800 80GB PCIe",), (0, 8), origin=_LINKS_RECALLED),
    _ampere("A30", ("20b7",), ("NVIDIA A30",), (0, 4), origin=_LINKS_RECALLED),
    _ampere("A40", ("2235",), ("NVIDIA A40",), (0, 4), link_gbps=14.062, origin=_LINKS_RECALLED),
    _ampere("A10", ("2236", "2237"), ("NVIDIA A10", "NVIDIA A10G"), (0,), link_gbps=0.0, origin=_LINKS_RECALLED),
    _ampere(
        "RTX A6000 / A5000",
        ("2230", "2231"),
        ("NVIDIA RTX A6000", "RTX A6000", "NVIDIA RTX A5000", "RTX A5000"),
        (0, 4),
        link_gbps=14.062,
        origin=("nvidia-smi nvlink output of a bridged pair", "confirmed"),
    ),
    _hopper("H100 SXM5", ("2330", "2339"), ("NVIDIA H100 80GB HBM3",), (18,), form=SXM, origin=_SEEN),
    _hopper("H100 PCIe", ("2331",), ("NVIDIA H100 PCIe",), (0, 12), origin=_LINKS_RECALLED),
    _hopper("H100 NVL", ("2321",), ("NVIDIA H100 NVL",), (0, 12), origin=_LINKS_RECALLED),
    _hopper(
        "H800 SXM",
        ("2324",),
        ("NVIDIA H800",),
        (8,),
        form=SXM,
        origin=("nvidia-smi nvlink outputs; link count recalled", "medium"),
    ),
    _hopper("H800 PCIe", ("2322", "233a"), ("NVIDIA H800 PCIe", "NVIDIA H800 NVL"), (0, 8), origin=_LINKS_RECALLED),
    _hopper("H20", ("2329", "232c"), ("NVIDIA H20",), (18,), form=SXM, origin=_LINKS_RECALLED),
    _hopper("H20 NVL16", ("230e",), ("NVIDIA H20 NVL16",), (18,), form=SXM, origin=_LINKS_RECALLED),
    _hopper("H200 SXM", ("2335",), ("NVIDIA H200",), (18,), form=SXM, origin=_SEEN),
    _hopper(
        "H200 NVL",
        ("233b",),
        ("NVIDIA H200 NVL",),
        (0, 18),
        origin=("open driver README; links from vendor product pages", "medium"),
    ),
    _hopper(
        "GH200",
        ("2342", "2348"),
        ("NVIDIA GH200", "GH200"),
        (0, 18),
        modules=OPEN_ONLY,
        form=SUPERCHIP,
        origin=_README_ALONE,
    ),
    _ada(
        "L4 / L40 / L40S / L20",
        ("27b8", "26b5", "26b9", "26ba"),
        ("NVIDIA L4", "NVIDIA L40", "NVIDIA L40S", "NVIDIA L20"),
        (0,),
        origin=_NO_LINKS_RECALLED,
    ),
    _ada("RTX 6000 Ada", ("26b1",), ("NVIDIA RTX 6000 Ada Generation",), (0,), origin=_NO_LINKS_RECALLED),
    _blackwell("B200 SXM", ("2901",), ("NVIDIA B200",), (18,), form=SXM, origin=_SEEN),
    _blackwell("B300 SXM6", ("3182",), ("NVIDIA B300",), (18,), pcie_gen=6, form=SXM, origin=_SEEN),
    _blackwell(
        "GB200",
        ("2941",),
        ("NVIDIA GB200", "NVIDIA HGX GB200", "HGX GB200"),
        (18,),
        pcie_gen=6,
        form=SUPERCHIP,
        origin=("nvidia-smi outputs (-q -x, nvlink); open driver README", "confirmed"),
    ),
    _blackwell(
        "GB300",
        ("31c2",),
        ("NVIDIA GB300",),
        (18,),
        pcie_gen=6,
        form=SUPERCHIP,
        origin=("nvidia-smi -q -x output; open driver README", "confirmed"),
    ),
    _blackwell(
        "GB10", ("2e12",), ("NVIDIA GB10",), (0,), link_gbps=0.0, pcie_gen=0, form=SUPERCHIP, origin=_README_ALONE
    ),
    _blackwell(
        "RTX PRO 6000 Blackwell Server",
        ("2bb5",),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition",),
        (0,),
        link_gbps=0.0,
        origin=_README,
    ),
    _blackwell(
        "RTX PRO 6000 Blackwell Workstation",
        ("2bb1", "2bb4"),
        (
            "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
            "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        ),
        (0,),
        link_gbps=0.0,
        origin=_README,
    ),
)
