# SPDX-License-Identifier: GPL-3.0-or-later
"""What share of a step each part takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

from .._parse._times import COMMUNICATION
from . import numbers
from .series import Series, part


@dataclass(frozen=True)
class Shares:
    """Shares of a step, 1 is all of it. ``parts``: of those told, the mean over ranks and usual steps.
    ``transfer``: communication of the rank that came last, which waits for nobody: the network's own share.
    ``waiting``: what the others' is longer. ``split``: both are told; ``ends``: only of the first and the last rank,
    as the least and the most of each part; the parts are the last rank's then.
    ``untold``: what no part tells. ``overlap``: how much more than a step the parts are together."""

    parts: Mapping[str, float] = field(default_factory=dict)
    transfer: float = 0.0
    waiting: float = 0.0
    split: bool = False
    ends: bool = False
    untold: float = 1.0
    overlap: float = 0.0


def shares(found: Series) -> Shares:
    """By sums over the usual steps, so a part that comes in every tenth step has its share too."""
    steps = [step for row in found.work for step in row.values() if any(name in step.parts for name in found.told)]
    total = sum(step.seconds for step in steps)
    if not steps or total <= 0:
        return Shares()
    parts = {name: sum(part(step, name) for step in steps) / total for name in sorted(found.told)}
    transfer, waiting, split, ends = parts.get(COMMUNICATION, 0.0), 0.0, False, False
    least = [step for step in steps if numbers.sane(step.least.get(COMMUNICATION))]
    if COMMUNICATION in parts and len(found.ranks) == 1 and 2 * len(least) > len(steps):
        split, ends = True, True
        transfer = sum(step.least[COMMUNICATION] for step in least) / sum(step.seconds for step in least)
        transfer = min(transfer, parts[COMMUNICATION])
        waiting, parts[COMMUNICATION] = parts[COMMUNICATION] - transfer, transfer
    elif COMMUNICATION in parts:
        last, length = [], []
        for row in found.work:
            own = [part(step, COMMUNICATION) for step in row.values() if COMMUNICATION in step.parts]
            if len(own) > 1:
                last.append(min(own))
                length.append(numbers.median([step.seconds for step in row.values()]))
        if last:
            split, transfer = True, min(transfer, sum(last) / sum(length))
            waiting = parts[COMMUNICATION] - transfer
    whole = sum(parts.values())
    return Shares(parts, transfer, waiting, split, ends, max(0.0, 1 - whole), max(0.0, whole - 1))
