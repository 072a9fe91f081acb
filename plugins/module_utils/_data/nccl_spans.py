# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that NCCL's variables take, what comes of others, and which cripple jobs (nccl_spans.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load, load_by_key
from ._rows import nccl_spans as rows


@dataclass(frozen=True)
class Span:
    """``least`` and ``most`` that a variable takes; None for no bound. ``only``: these numbers and
    no others. ``beyond``: what comes of any other, "" where the guide alone has the span. ``stops``:
    whether jobs end, crash or hang by it."""

    least: int | None
    most: int | None
    beyond: str = ""
    stops: bool = False
    only: tuple[int, ...] = ()

    def holds(self, value: int) -> bool:
        """Whether it takes the number."""
        if self.only:
            return value in self.only
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        if self.only:
            return ", ".join(map(str, self.only))
        if self.most is None:
            return f"{self.least} and more"
        return f"{self.least} to {self.most}"


SWITCHES: tuple[str, ...] = rows.SWITCHES

RANGES: dict[str, Span] = load_by_key(Span, rows.RANGES)
SPANS = {**dict.fromkeys(SWITCHES, Span(0, 1)), **RANGES}


@dataclass(frozen=True)
class Unwise:
    """Numbers from ``least`` to ``most`` that NCCL takes, and what jobs suffer by them."""

    name: str
    least: int
    most: int
    means: str


UNWISE: tuple[Unwise, ...] = load(Unwise, rows.UNWISE)
