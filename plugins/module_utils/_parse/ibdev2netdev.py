# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibdev2netdev`` prints, with ``-v`` or without: the interface of each RDMA port."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import flat_lines, no_facts

_TOOL = "ibdev2netdev"
NOTHING: dict[str, Any] = {"ports": [], "unread": 0}

# With -v the PCI address, the board, its name, firmware and the port's state stand before the arrow.
_ROW = re.compile(
    r"(?:(?P<pci>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) )?(?P<device>[A-Za-z][\w-]{1,62}) "
    r"(?:.{0,120}?fw (?P<firmware>\d[\d.]{2,20}) )?port (?P<port>\d{1,3})(?: \((?P<state>[A-Z]{3,12}) ?\))? ==> "
    r"(?P<netdev>[\w.@-]{1,64}) \((?P<up>Up|Down)\)(?: .{0,200})?"
)


@dataclass(frozen=True)
class Link:
    """One port. ``up``: whether the interface is switched on. ``pci``, ``firmware``, ``state``: "" without -v."""

    device: str
    port: int
    netdev: str
    up: bool
    pci: str = ""
    firmware: str = ""
    state: str = ""


@dataclass(frozen=True)
class Ibdev2netdev:
    """``unread``: how many lines are no row of it."""

    ports: tuple[Link, ...]
    unread: int = 0


def parse(text: str) -> Ibdev2netdev:
    """Read every row; raise ParseError where there is none."""
    lines = flat_lines(text)
    found: list[Link] = []
    unread = 0
    for line in lines:
        row = _ROW.fullmatch(line)
        if row is not None:
            told = {name: value or "" for name, value in row.groupdict().items()}
            port, up = int(told.pop("port")), told.pop("up") == "Up"
            found.append(Link(port=port, up=up, **told))
        elif line:
            unread += 1
    if not found:
        raise no_facts(_TOOL, lines, "no port with its interface")
    return Ibdev2netdev(tuple(found), unread)


def facts(parsed: Ibdev2netdev) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {"ports": [asdict(link) for link in parsed.ports], "unread": parsed.unread}
