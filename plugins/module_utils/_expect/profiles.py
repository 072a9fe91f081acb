# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognise a host's hardware: GPU models by PCI id or name, and the board they make up."""

from __future__ import annotations

from collections import Counter
from typing import Sequence

from .._data.boards import BOARDS, Board
from .._data.gpus import GPUS, Gpu

_BY_ID = {pci_id: gpu for gpu in GPUS for pci_id in gpu.pci_ids}
_BY_NAME = {board.name: board for board in BOARDS}
PROFILES = tuple(_BY_NAME)
_BY_MODEL = {gpu.model: gpu for gpu in GPUS}


def gpu_by_id(device: str) -> Gpu | None:
    """The model of a PCI device id (hex, no 0x); None where it is not in the table."""
    return _BY_ID.get(device.lower())


def gpu_by_name(name: str) -> Gpu | None:
    """The model of a product name of nvidia-smi: the longest beginning that ends at a word."""
    found = [
        (len(start), gpu)
        for gpu in GPUS
        for start in gpu.names
        if name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()
    ]
    return max(found, key=lambda item: item[0])[1] if found else None


def gpu_model(model: str) -> Gpu:
    """The model of this exact key; KeyError where the table has none."""
    return _BY_MODEL[model]


def board_by_name(name: str) -> Board | None:
    """The profile of this name, as an inventory gives it."""
    return _BY_NAME.get(name)


def recognise(gpus: Sequence[Gpu | None], product: str, nvswitches: int) -> Board | None:
    """The board that these GPUs make up; None where the hardware tells no board for sure.

    ``gpus``: one entry per GPU seen, None for a model that is not known. ``product``: the DMI
    product name, "" where unknown. ``nvswitches``: NVSwitches on the PCI bus. A board is
    recognised with GPUs missing, so that the missing ones are seen: from more than half of them
    on, or with fewer where its NVSwitches are there. A slice of a board in a virtual machine
    (few GPUs, no switch) is no board.
    """
    models = Counter(gpu.model for gpu in gpus if gpu is not None)
    for board in BOARDS:
        named = any(product.startswith(entry) for entry in board.products)
        # Every product name belongs to one GPU model; a different model is no such board.
        if named and (not models or models.most_common(1)[0][0] == board.gpu):
            return board
    if not models:
        return None
    model, count = models.most_common(1)[0]
    fitting = sorted(
        (board for board in BOARDS if board.gpu == model and not board.products and count <= board.gpus),
        key=lambda board: board.gpus,
    )
    for board in fitting:
        if board.imex or (board.nvswitches and nvswitches):
            return board
        if 2 * count > board.gpus and bool(board.nvswitch) == bool(nvswitches):
            return board
    for board in fitting:
        # Its NVSwitches may have fallen off the bus altogether; that many GPUs make it plain.
        if 2 * count > board.gpus:
            return board
    return None
