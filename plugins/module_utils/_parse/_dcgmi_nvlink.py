# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what ``dcgmi nvlink --link-status`` prints: a letter for each NVLink of each GPU and NVSwitch."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADING = "NvLink Link Status"
_OF = {"gpuId": "GPU", "physicalId": "NVSwitch"}
_ENTITY = re.compile(r"(gpuId|physicalId) ([0-9]{1,6}):")
_LETTERS = re.compile(r"[UDX_](?: [UDX_]){0,255}")


@dataclass(frozen=True)
class Links:
    """How many of an entity's (GPU 0) links are up, down and disabled; the rest it does not have."""

    entity: str
    up: int
    down: int
    disabled: int


class Reader:
    """``links``: of every entity that was listed."""

    def __init__(self) -> None:
        self.links: list[Links] = []
        self._entity = ""

    def take(self, line: str) -> bool:
        """Whether the line tells of links."""
        entity = _ENTITY.fullmatch(line)
        if entity is not None:
            self._entity = f"{_OF[entity.group(1)]} {entity.group(2)}"
        elif self._entity and _LETTERS.fullmatch(line):
            self.links.append(Links(self._entity, line.count("U"), line.count("D"), line.count("X")))
            self._entity = ""
        else:
            return line in ("GPUs:", "NvSwitches:", "No NvSwitches found.", "No GPUs found.") or line.startswith(
                "Key: Up="
            )
        return True
