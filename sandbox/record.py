# SPDX-License-Identifier: GPL-3.0-or-later
"""Which faults are in force, kept in the state directory so that they can be healed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox.config import Sandbox


@dataclass(frozen=True)
class Active:
    """A fault in force; `node` is None for one of the whole fabric."""

    fault: str
    node: str | None

    def __str__(self) -> str:
        return f"{self.fault} on {self.node}" if self.node else self.fault


def _file(box: Sandbox) -> Path:
    return box.state / "faults.json"


def active(box: Sandbox) -> list[Active]:
    """Return the faults in force, oldest first."""
    try:
        return [Active(**entry) for entry in json.loads(_file(box).read_text())]
    except FileNotFoundError:
        return []


def write(box: Sandbox, faults: Sequence[Active]) -> None:
    """Replace the record in one step."""
    fresh = _file(box).with_suffix(".new")
    fresh.write_text(json.dumps([asdict(fault) for fault in faults], indent=2) + "\n")
    fresh.replace(_file(box))
