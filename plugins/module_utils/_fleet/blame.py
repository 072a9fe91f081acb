# SPDX-License-Identifier: GPL-3.0-or-later
"""Lay what is wrong between pairs of hosts at the door of as few hosts as explain it."""

from __future__ import annotations

from typing import Iterable


def blame(bad: Iterable[tuple[str, str]], *, asked_first: bool = False) -> set[str]:
    """The smallest set of hosts, greedily, that explains every bad pair (who asked, who was asked).

    Of hosts that are equally likely all are named; with ``asked_first`` those that were asked more
    often.
    """
    left = list(bad)
    guilty: set[str] = set()
    while left:
        weights: dict[str, tuple[int, int]] = {}
        for pair in left:
            for name in pair:
                pairs, asked = weights.get(name, (0, 0))
                weights[name] = (pairs + 1, asked + (asked_first and name == pair[1]))
        worst = max(weights.values())
        guilty.update(name for name, weight in weights.items() if weight == worst)
        left = [pair for pair in left if not guilty.intersection(pair)]
    return guilty
