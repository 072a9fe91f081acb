# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tables of rows share: an expectation that changes with the version of NCCL."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")

# Every row of every table was asked of each of these, on one day; test_*.py ask the pinned ones.
MEASURED = (
    *("2.18.3", "2.19.3", "2.20.5", "2.21.5", "2.22.3", "2.23.4", "2.24.3", "2.25.1", "2.26.2"),
    *("2.27.3", "2.27.7", "2.28.3", "2.28.7", "2.28.9", "2.29.2", "2.29.3", "2.29.7", "2.30.3"),
    *("2.30.4", "2.30.7", "2.31.2", "2.32.3"),
)


class By(Generic[T]):
    """What holds from the oldest version on, and what from which later one: By(1, v2_30=2)."""

    def __init__(self, always: T, **since: T) -> None:
        self._since = [((0,), always)]
        self._since += [(_number(name), value) for name, value in since.items()]

    def at(self, version: tuple[int, ...]) -> T:
        """What holds at this version."""
        return [value for first, value in self._since if version >= first][-1]


def _number(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.removeprefix("v").split("_"))
