# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CUDA runs on which NVIDIA driver: of its own, by minor version and by forward compatibility (cuda.yml).

Releases are (major, minor).
"""

from __future__ import annotations

from ._rows import cuda as rows

BROUGHT: dict[int, tuple[int, int]] = rows.BROUGHT
LEAST: dict[int, str] = rows.LEAST
FORWARD: dict[int, tuple[tuple[int, int], ...]] = rows.FORWARD
NEVER_FORWARD: tuple[str, ...] = rows.NEVER_FORWARD
SELECT_FORWARD: tuple[str, ...] = rows.SELECT_FORWARD
BRANDS: tuple[tuple[str, str], ...] = rows.BRANDS
FIRST_NCCL: dict[str, tuple[tuple[int, ...], tuple[int, int]]] = rows.FIRST_NCCL
# The brands above that GPUs of data centers have, and no others of that table.
DATA_CENTER = ("nvidia", "tesla")
