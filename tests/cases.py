# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a long test has in every run; with ``IBREADY_CASES=all`` it has all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

ALL = os.environ.get("IBREADY_CASES") == "all"

Case = TypeVar("Case")


def some(cases: Iterable[Case], kind: Callable[[Case], Hashable]) -> list[Case]:
    """Return the first case of each kind, in their order; every case where all are asked for."""
    known = list(cases)
    first: dict[Hashable, Case] = {}
    for case in known:
        first.setdefault(kind(case), case)
    return known if ALL else list(first.values())


def area(fault: Any) -> Hashable:
    """Return the kind of a planted fault for tests that follow it far: its area, and the kind of fabric."""
    return fault.check.partition(".")[0], "roce" in fault.board


def of(every: int) -> int:
    """Return how many of so many are tried: a quarter; all of them where all are asked for."""
    return every if ALL else -(-every // 4)


def rounds(every: Sequence[Case]) -> list[Any]:
    """Return parameters for pytest: the first round, and the others as `thorough` (`./run system` has them)."""
    return [every[0], *(pytest.param(one, marks=pytest.mark.thorough) for one in every[1:])]
