# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a long test has: the same every day, and all of them with ``IBREADY_CASES=all``."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet

ALL = os.environ.get("IBREADY_CASES") == "all"

Case = TypeVar("Case")


def first(cases: Iterable[Case], kind: Callable[[Case], Hashable]) -> list[Case]:
    """Return the first case of each kind, in their order."""
    found: dict[Hashable, Case] = {}
    for case in cases:
        found.setdefault(kind(case), case)
    return list(found.values())


def some(cases: Iterable[Case], kind: Callable[[Case], Hashable]) -> list[Case]:
    """Return the first case of each kind; every case where all are asked for."""
    known = list(cases)
    return known if ALL else first(known, kind)


def area(fault: Any) -> Hashable:
    """Return the kind of a planted fault for tests that follow it far: its area, and the kind of fabric."""
    return fault.check.partition(".")[0], "roce" in fault.board


def everyday(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Part the tests of a run: those that run, and the `thorough` ones, which run only where all are asked for."""
    run: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        (run if ALL or item.get_closest_marker("thorough") is None else left).append(item)
    return run, left


def daily(every: Sequence[Any], count: int = 1) -> list[Any]:
    """Return parameters for pytest: the first ``count`` as they are, the others as `thorough`."""
    return [*every[:count], *map(_thorough, every[count:])]


def _thorough(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        known = case
    else:
        known = pytest.param(*(case if isinstance(case, tuple) else (case,)))
    return pytest.param(*known.values, id=known.id, marks=(*known.marks, pytest.mark.thorough))
