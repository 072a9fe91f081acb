# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of kernel, limits, modules and services: gathered by _observe/host."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class HostFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
