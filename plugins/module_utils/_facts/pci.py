# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of links, BARs and bridges of GPUs and HCAs: gathered by _observe/pci."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PciFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
