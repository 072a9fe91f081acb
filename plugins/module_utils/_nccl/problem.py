# SPDX-License-Identifier: GPL-3.0-or-later
"""One thing in an nccl.conf that does not do what it seems to do."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = "error"
WARNING = "warning"
_SHOWN = 80


@dataclass(frozen=True)
class Problem:
    """``found`` in this line, what ``nccl_makes`` of it, and what to do.

    ``name``: the variable that was meant, "" where there is none. ``severity``: ERROR where NCCL
    does something else than the line says, WARNING where it does the right thing by luck, or may
    not. ``kind``: one word for the sort of problem, stable.
    """

    line: int
    name: str
    found: str
    nccl_makes: str
    next_step: str
    severity: str
    kind: str

    def told(self, path: str = "") -> str:
        """One sentence for people."""
        where = f"{path}:{self.line}" if path else f"line {self.line}"
        name = f" {short(self.name)}:" if self.name else ""
        return f"{where}:{name} {self.found}: {self.nccl_makes}. Next: {self.next_step}"


def short(text: str) -> str:
    """A foreign text for a message: no longer than a line, nothing that a terminal obeys."""
    plain = "".join(line if line.isprintable() else ascii(line)[1:-1] for line in text[:_SHOWN])
    return f"{plain}..." if len(text) > _SHOWN else plain
