# SPDX-License-Identifier: GPL-3.0-or-later
"""Read facts that came as JSON from a host, whatever shape they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def as_dict(value: Any) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> Sequence[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list | tuple) else ()


def reading(raw: Any, shown: Callable[[Any], str] = str) -> str | None:
    """A reading's value as a text; None where it was seen not to be there, "" where nobody could
    look."""
    reported = as_dict(raw)
    if reported.get("value") is not None:
        return shown(reported["value"])
    return None if reported.get("missing") else ""
