# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ip -j -d link show`` prints: the MTU of interfaces, and the most that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError
from ._records import number_of, records, text_of

_TOOL = "ip link"


@dataclass(frozen=True)
class Link:
    """One interface. ``most``: the largest MTU of its driver, 0 where that is not told."""

    name: str
    mtu: int
    most: int


def parse(text: str) -> tuple[Link, ...]:
    """Every interface; ParseError where the text tells of none."""
    found = tuple(_link(record) for record in records(_TOOL, text))
    if not found:
        raise ParseError(_TOOL, 0, "", "no interface")
    return found


def _link(record: dict[str, Any]) -> Link:
    name, mtu = text_of(_TOOL, record, "ifname"), number_of(_TOOL, record, "mtu")
    if not name or mtu is None:
        raise ParseError(_TOOL, 0, "", f"{name or 'an interface'} without ifname and mtu")
    return Link(name, mtu, max(0, number_of(_TOOL, record, "max_mtu") or 0))
