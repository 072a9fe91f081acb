# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs and HCAs by what they have in common: the generation that a PCI id belongs to, and what a model differs in."""

from __future__ import annotations

import functools

from ....module_utils._data.hcas import HCAS
from ....module_utils._expect import profiles
from ..matrix.model import CONFIRMED, Fact, Matrix

_HCA_IDS = {hca.name: hca.pci_id for hca in HCAS}


@functools.lru_cache(maxsize=512)
def generation(device: str, section: str, matrix: Matrix) -> Fact | None:
    """The generation of a GPU or HCA (``section``: gpus, hcas), given by its name or PCI id (10de:2684).

    Of several rows that hold the id the one with the narrowest range.
    """
    rows = matrix.all(f"{section}.generations")
    if ":" in device:
        found = device.rpartition(":")[2]
    else:
        found = profiles.gpu_model(device).pci_ids[0] if section == "gpus" else _HCA_IDS.get(device, "")
    if not found:
        return rows.get(device)
    number = int(found, 16)
    spans = []
    for fact in rows.values():
        for text in fact.get("ids", ()):
            first, _mark, last = text.partition("-")
            if int(first, 16) <= number <= int(last or first, 16):
                spans.append((int(last or first, 16) - int(first, 16), fact))
    return min(spans, key=lambda span: span[0])[1] if spans else None


def model(gpu: str, matrix: Matrix) -> Fact | None:
    """What is said of this very model of a GPU."""
    return matrix.get("gpus.models", gpu)


def said(gpu: str, field: str, matrix: Matrix) -> tuple[Fact, str] | None:
    """Who says something of a GPU in this field, and of whom: the model itself, else its generation."""
    mine = model(gpu, matrix)
    if mine is not None and mine.get(field) is not None:
        return mine, gpu
    fact = generation(gpu, "gpus", matrix)
    return (fact, f"{gpu} ({fact.name})") if fact is not None and fact.get(field) is not None else None


def closed(gpus: tuple[str, ...], matrix: Matrix) -> str:
    """The GPU whose memory surely no HCA reaches in any way, with the source; "" where there is none."""
    for gpu in gpus:
        found = said(gpu, "gpudirect", matrix)
        if found and not found[0].get("gpudirect") and found[0].sure("gpudirect") == CONFIRMED:
            return f"{gpu} has no GPUDirect RDMA ({found[0].source})"
    return ""
