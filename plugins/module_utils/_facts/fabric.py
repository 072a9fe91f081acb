# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of fabric-wide outputs: gathered by _observe/fabric."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FabricFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
