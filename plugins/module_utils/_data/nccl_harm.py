# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings with which NCCL does without RDMA, NVLink or GPUDirect on a host that has them (nccl_harm.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import nccl_harm as rows

# What a host must have for a setting to do harm.
RAILS, GPUS, DMABUF, RACK = "rails", "gpus", "dmabuf", "rack"
# When a value does: a number that is not 0, 0, exactly 1, or one of some words in any case.
ON, OFF, ONE, WORD = "on", "off", "one", "word"


@dataclass(frozen=True)
class Harm:
    """``name`` set so that ``when`` holds does harm to a host that ``needs`` names."""

    name: str
    when: str
    needs: str
    means: str
    words: tuple[str, ...] = ()


HARMS: tuple[Harm, ...] = load(Harm, rows.HARMS)
DETOURS: tuple[Harm, ...] = load(Harm, rows.DETOURS)
