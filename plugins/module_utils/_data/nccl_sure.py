# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of NCCL that are nobody else's, and are read where its prefix was cut off (nccl_sure.yml)."""

from __future__ import annotations

from ._rows import nccl_sure as rows

SURE: tuple[str, ...] = rows.SURE

SURE_FACTS: tuple[str, ...] = rows.SURE_FACTS
