# SPDX-License-Identifier: GPL-3.0-or-later
"""One thing that was looked for: its value, or why there is none."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Callable, Generic, Mapping, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Reading(Generic[T]):
    """A value; or, with ``value`` None, why there is none.

    ``missing`` tells "we looked, and it is not there" from "we could not look". Only the first may
    ever become a skip, and only where its absence means that the check does not apply.
    """

    value: T | None = None
    why: str = ""
    missing: bool = False

    @property
    def known(self) -> bool:
        return self.value is not None

    def map(self, convert: Callable[[T], R]) -> Reading[R]:
        """The reading of what `convert` makes of the value; a ValueError makes it unknown."""
        if self.value is None:
            return Reading(None, self.why, self.missing)
        try:
            return Reading(convert(self.value))
        except ValueError as exc:
            return Reading(None, str(exc))


def as_json(t: T) -> T:
    """A dataclass as the object that JSON has of it; its type stays, for whoever reads it back."""
    reported: Any = asdict(t)  # type: ignore[call-overload]
    return cast(T, reported)


def rebuilt(raw: Mapping[str, Any], rebuild: Callable[[Any], T]) -> Reading[T]:
    """The reading that ``asdict`` made this of; ``rebuild`` makes the value what it was."""
    value = raw["value"]
    known = None if value is None else rebuild(value)
    return Reading(known, raw["why"], raw["missing"])
