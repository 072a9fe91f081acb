# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the lines in which the job of mpi_smoke tells how long its all-reduce took."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._ground.text import ParseError, clean_lines

_US = r"([0-9]{1,12}\.[0-9]{1,3})"
_LINE = re.compile(
    r"ibready-allreduce bytes=([0-9]{1,12}) ranks=([0-9]{1,9}) iterations=([0-9]{1,9}) "
    rf"median_us={_US} mad_us={_US} min_us={_US} (right|wrong)"
)


@dataclass(frozen=True)
class Size:
    """One message size: microseconds of the slowest process, over all iterations.

    ``mad``: their median absolute deviation. ``right``: whether every sum was.
    """

    bytes: int
    ranks: int
    iterations: int
    median: float
    mad: float
    least: float
    right: bool

    @property
    def busbw(self) -> float:
        """GB/s of each process's link, as nccl-tests counts it."""
        return self.bytes / self.median / 1e3 * 2 * (self.ranks - 1) / self.ranks


def parse(text: str) -> tuple[Size, ...]:
    """All such lines; ParseError where there is none."""
    found = []
    for line in clean_lines(text):
        match = _LINE.search(" ".join(line.split()))
        if match is not None and int(match[2]) and float(match[4]) > 0:
            usual, mad, least = (float(match[at]) for at in (4, 5, 6))
            counts = (int(match[1]), int(match[2]), int(match[3]))
            found.append(Size(*counts, usual, mad, least, match[7] == "right"))
    if not found:
        raise ParseError("mpi_bench", 0, "", "no line in which the job tells a time")
    return tuple(found)
