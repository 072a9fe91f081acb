# SPDX-License-Identifier: GPL-3.0-or-later
"""Lay what is wrong between pairs of hosts at the door of as few hosts as explain it."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable

from .._ground.check import FAIL, Check, unknown

_NEXT = "verify again; where the same host is alone again with its word, look at that host and the way between the two"


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


def held(check: Check, host: str, bad: Iterable[str], good: Iterable[str]) -> Check:
    """The check of ``host``, which one other host's word alone is not enough to fail.

    ``bad``: who tells what is wrong; ``good``: who tells of the same that nothing is. A failure that somebody denies
    takes the host's own word, or that of two others.
    """
    says = set(bad)
    denies = set(good) - says
    if check.result != FAIL or host in says or len(says) != 1 or not denies:
        return check
    return doubted(check, f"{min(says)} says so, {host if host in denies else min(denies)} denies it")


def doubted(check: Check, why: str) -> Check:
    """A failure that one host's word is not enough for."""
    told = unknown(check.id, check.subject, f"{check.observed}: {why}", observed=check.observed, remedy=_NEXT)
    return replace(told, expected=check.expected, expected_from=check.expected_from)
