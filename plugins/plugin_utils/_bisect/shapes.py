# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes in and out round by round: the bound on load, flows to measure, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Bound:
    """``flows``: at once, at most; 0: as many as find ports. ``share``: of a link's bandwidth that flows at
    full rate may ask for together. ``waves``: how many times in a round flows may start; those of a wave run at once.

    A port is in one flow of a round at most, whichever wave it is in.
    """

    flows: int = 0
    share: float = 1.0
    waves: int = 1


class Flow(NamedTuple):
    """From port to port, by number. ``gbps``: expected of healthy parts."""

    source: int
    target: int
    gbps: float
    wave: int = 0


@dataclass(frozen=True)
class Round:
    """``number`` counts from 1."""

    number: int
    flows: tuple[Flow, ...]

    def waves(self) -> list[list[Flow]]:
        """The flows that run at once."""
        found: list[list[Flow]] = [[] for _turn in range(max((flow.wave for flow in self.flows), default=-1) + 1)]
        for flow in self.flows:
            found[flow.wave].append(flow)
        return found


class Measured(NamedTuple):
    """What came of a flow. ``gbps``: 0 where it could not move data; a flow that did not start is left out."""

    source: int
    target: int
    gbps: float
