# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of a table as objects: the rows stand in YAML, and for nodes as Python beside it (_data/_rows)."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

T = TypeVar("T")


def load(kind: Callable[..., T], rows: Any, **inner: Callable[..., Any]) -> tuple[T, ...]:
    """Make one object of each row; where the rows have keys, the key is the first field.

    ``inner``: what is made of a mapping that stands in a field of this name.
    """
    if isinstance(rows, dict):
        return tuple([kind(key, **row) for key, row in rows.items()])
    if inner:
        rows = [
            {name: inner[name](**was) if isinstance(was, dict) else was for name, was in row.items()} for row in rows
        ]
    return tuple([kind(**row) for row in rows])


def load_by_key(kind: Callable[..., T], rows: Any) -> dict[Any, T]:
    """Make one object of each row, by the row's key."""
    return {key: kind(**row) for key, row in rows.items()}
