# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``systemctl show`` and ``timedatectl show``: KEY=VALUE lines, one block a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict

from .._ground.text import ParseError, clean_lines

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")

Block = Dict[str, str]


@dataclass(frozen=True)
class Show:
    """The properties of each unit that was asked for, or one block of the manager's own."""

    blocks: tuple[Block, ...]

    @property
    def all(self) -> Block:
        """Every property under one roof, for an output without units."""
        return {key: value for block in self.blocks for key, value in block.items()}

    @property
    def units(self) -> dict[str, Block]:
        """Each unit's properties by its name."""
        return {block["Id"]: block for block in self.blocks if "Id" in block}


def parse(text: str) -> Show:
    """Read the properties; raise ParseError where there is none."""
    lines = [line.strip() for line in clean_lines(text)]
    blocks: list[Block] = [{}]
    spread = _spread(lines)
    for line in lines:
        key, equals, value = line.partition("=")
        if not line and not spread:
            blocks.append({})
        elif equals and _KEY.fullmatch(key):
            if key in blocks[-1] and spread:
                blocks.append({})
            blocks[-1].setdefault(key, value.strip())
    found = tuple(block for block in blocks if block)
    if found:
        return Show(found)
    line_no, line = next(((n, line) for n, line in enumerate(lines, 1) if line), (0, ""))
    said = (line,) if line.startswith(("Failed", "System has not")) else ()
    raise ParseError("systemctl_show", line_no, line, "no KEY=VALUE line", said)


def _spread(lines: list[str]) -> bool:
    """Whether there is an empty line between any two lines, so that it parts no units."""
    return len(lines) > 2 and not any(entry and two for entry, two in zip(lines, lines[1:]))
