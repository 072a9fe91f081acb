# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parsers of devices and ports share: the lines of one, gathered before they are read."""

from __future__ import annotations

from typing import Callable, TypeVar

from .._ground.text import ParseError

T = TypeVar("T")


class Block:
    """The values of one device or port by field, each with the number of its line."""

    def __init__(self, tool: str, name: str) -> None:
        self.tool = tool
        self.name = name
        self.values: dict[str, tuple[int, str]] = {}

    def put(self, field: str, line_no: int, line: str, value: str) -> None:
        """Keep what a line says; ParseError where another one said otherwise."""
        known = self.values.get(field)
        if known is not None and known[1] != value:
            raise ParseError(self.tool, line_no, line, f"contradicts line {known[0]}")
        self.values[field] = (line_no, value)

    def text(self, field: str) -> str:
        """The value, "" where its line was missing or empty."""
        return self.values[field][1] if field in self.values else ""

    def number(self, field: str, key: str, convert: Callable[[str], T]) -> T | None:
        """The value as `convert` reads it, None where its line was missing or empty."""
        line_no, value = self.values.get(field, (0, ""))
        if not value:
            return None
        try:
            return convert(value)
        except ValueError as exc:
            raise ParseError(self.tool, line_no, f"{key}: {value}", str(exc)) from exc

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The fields with their values, in the order of their lines."""
        return tuple((field, value) for field, (_line_no, value) in self.values.items())
