# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows where a variable of NVIDIA's debugging list stays set (nccl_left.yml).

Those that do harm by what the host has are in nccl_harm, numbers and words that are wrong or unwise by
themselves in nccl_spans and nccl_words.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load
from ._rows import nccl_left as rows


@dataclass(frozen=True)
class Left:
    """``calm``: values with which the variable may stay, because they only ask for what NCCL does
    where it can, or for what sites measure and choose. ``off``: values in text that do harm, where
    every other may stay."""

    name: str
    means: str
    calm: tuple[int | str, ...] = ()
    off: tuple[int | str, ...] = ()

    def stays(self, value: str) -> bool:
        """Whether nothing is to be told of this value, as NCCL reads it."""
        if self.off:
            return value not in map(str, self.off)
        return value in map(str, self.calm)


LEFT: tuple[Left, ...] = load(Left, rows.LEFT)
FREE: frozenset[str] = frozenset(rows.FREE)
