# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations by the names of PyTorch's watchdog, in those of its flight recorder (nccl_watchdog.yml)."""

from __future__ import annotations

from ._rows import nccl_watchdog as rows

OPERATIONS: dict[str, str] = rows.OPERATIONS
