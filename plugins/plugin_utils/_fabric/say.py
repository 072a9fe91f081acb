# SPDX-License-Identifier: GPL-3.0-or-later
"""From findings to checks: what is wrong, or that nothing is; no pass without a whole look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.check import Check, passed, unknown
from ...module_utils._ground.text import few

T = TypeVar("T", bound=Hashable)

# A majority takes this many.
MIN_MAJORITY = 3
_NAMED = 8


def settled(
    check_id: str,
    subject: str,
    wrong: Sequence[Check],
    seen: str,
    expected: str,
    *,
    partial: str = "",
    of_absence: bool = False,
    source: str = CAPABILITY,
) -> list[Check]:
    """The failures; without any a pass, or unknown where ``partial`` says why not all was seen.

    ``of_absence``: a failure says that something is not there, which takes the whole of the look.
    """
    if partial and (of_absence or not wrong):
        return [unknown(check_id, subject, partial)]
    return list(wrong) or [passed(check_id, subject, seen, expected, source)]


def majority(values: Iterable[T]) -> tuple[T, int, int] | None:
    """What more than half of at least three have; how many have it, and of how many."""
    counted = Counter(values)
    total = sum(counted.values())
    if total < MIN_MAJORITY:
        return None
    value, times = counted.most_common(1)[0]
    return (value, times, total) if 2 * times > total else None


def some(names: Iterable[str]) -> str:
    """The names, or the first of many."""
    return few(list(names), _NAMED)
