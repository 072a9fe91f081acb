# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a long test has in a run: others on other days, and all of them with ``IBREADY_CASES=all``."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from _pytest.mark import ParameterSet

ALL = os.environ.get("IBREADY_CASES") == "all"
# Handed on to the workers, which at midnight would have two.
TODAY = os.environ.setdefault("IBREADY_DAY", datetime.date.today().isoformat())
DAY = datetime.date.fromisoformat(TODAY).toordinal()

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


def sampled(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Part the tests of a run: those that run, and the parameters of thorough tests that it leaves out.

    Of each test that is marked `thorough` the first parameter and every fourth run, others on other days, and all of
    them where all are asked for or the mark says ``every=True``.
    """
    run: list[pytest.Item] = []
    left: list[pytest.Item] = []
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("thorough")
        test = item.nodeid.partition("[")[0]
        of_today = not seen[test] or (seen[test] + DAY) % 4 == 0
        stays = ALL or mark is None or mark.kwargs.get("every") or of_today
        (run if stays else left).append(item)
        seen[test] += 1
    return run, left


def every_third_day(turn: int) -> Callable[[Case], Case]:
    """Leave a story of minutes as it is on one day of three, and mark it as `thorough` on the others."""
    thorough: Callable[[Case], Case] = pytest.mark.thorough
    return thorough if turn != DAY % 3 else lambda story: story


def third(every: Sequence[Case]) -> list[Case]:
    """Return every third of these, others on other days; all of them where all are asked for."""
    return [one for at, one in enumerate(every) if ALL or at % 3 == DAY % 3]


def daily(every: Sequence[Any], count: int = 1) -> list[Any]:
    """Return parameters for pytest: the first ``count`` as they are, the others as `thorough`."""
    return [*every[:count], *map(_thorough, every[count:])]


def _thorough(case: Any) -> Any:
    if isinstance(case, ParameterSet):
        known = case
    else:
        known = pytest.param(*(case if isinstance(case, tuple) else (case,)))
    return pytest.param(*known.values, id=known.id, marks=(*known.marks, pytest.mark.thorough))
