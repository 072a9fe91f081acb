# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of the installed stack: gathered by _observe/stack."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class StackFacts:
    """Nothing yet."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
