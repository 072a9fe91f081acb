# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of NVLink and the fabric manager: gathered by _observe/nvlink."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class NvlinkFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
