# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of GPUs and their driver: gathered by _observe/gpu."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class GpuFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
