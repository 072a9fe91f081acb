# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a reading: what could not be looked at is unknown, whatever the rule says."""

from __future__ import annotations

from typing import Callable, TypeVar

from .check import Check, unknown
from .reading import Reading

T = TypeVar("T")


def look(
    check_id: str,
    subject: str,
    reading: Reading[T],
    judge: Callable[[T], Check],
    *,
    missing: Callable[[], Check] | None = None,
) -> Check:
    """The check that ``judge`` makes of the value.

    ``missing`` answers where we looked and the thing is not there; without it that is unknown.
    """
    if reading.value is not None:
        return judge(reading.value)
    if reading.missing and missing is not None:
        return missing()
    return unknown(check_id, subject, reading.why or "nobody looked")
