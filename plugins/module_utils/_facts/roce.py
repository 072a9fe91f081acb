# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of RoCE ports: gathered by _observe/roce."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class RoceFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
