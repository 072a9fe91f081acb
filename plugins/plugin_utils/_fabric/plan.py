# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cable should be where: a site's cabling.csv, or an ibnetdiscover of a good day."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from ...module_utils._ground.text import ParseError
from ...module_utils._parse import ibnetdiscover
from ...module_utils._parse._topology import TOPOLOGY
from .calm import uncollected
from .model import guid

COLUMNS = ("from", "from_port", "to", "to_port")
_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")
_PORT = re.compile(r"[0-9]{1,3}")


class PlanError(Exception):
    """The plan cannot be read; the message names the line."""


@dataclass(frozen=True)
class Place:
    """A port as a plan names it. ``guid`` of its node, "" where the plan has a name only."""

    name: str
    port: int
    guid: str = ""

    def __str__(self) -> str:
        return f"{self.name}/{self.port}"


@dataclass(frozen=True)
class Planned:
    """One cable; ``line`` of the file, 0 where it has none of its own."""

    one: Place
    other: Place
    line: int = 0


@uncollected
def read(text: str) -> tuple[Planned, ...]:
    """The cables of a plan, in either form; raises PlanError."""
    if text.lstrip("\ufeff \r\n").startswith(("# Topology file", "#\n# Topology", "#\r\n# Topo")):
        return _from_discovery(text)
    if re.search(r"^(?:Switch|Ca)\t", text, re.MULTILINE):
        return _from_discovery(text)
    return _from_csv(text)


def _from_discovery(text: str) -> tuple[Planned, ...]:
    try:
        found = ibnetdiscover.parse(text)
    except ParseError as exc:
        raise PlanError(str(exc)) from exc
    if found.format != TOPOLOGY:
        raise PlanError(f"a {found.format} of ibnetdiscover: run it without options")
    strange = [line for line in found.error_lines if line.startswith("line ")]
    if strange:
        raise PlanError(strange[0])
    names = {node.guid: node.name or node.guid for node in found.nodes}
    ends = {(node.guid, link.port): (link.peer, link.peer_port) for node in found.nodes for link in node.links}
    lone = sum(ends.get(there) != here for here, there in ends.items())
    if lone:
        raise PlanError(f"{lone} links are listed from one end only: the file is cut")
    if not ends:
        raise PlanError("there is no cable in it")
    return tuple(
        Planned(Place(names[a], port, a), Place(names[b], peer, b))
        for (a, port), (b, peer) in ends.items()
        if (a, port) < (b, peer)
    )


def rows(text: str) -> tuple[tuple[int, str, str, str, str], ...]:
    """Of a CSV with the columns of a plan: each line's number and cells in their order; raises PlanError."""
    try:
        lines = list(csv.reader(io.StringIO(text.lstrip("\ufeff"))))
    except csv.Error as exc:
        raise PlanError(f"no CSV: {exc}") from exc
    kept = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(lines, 1)
        if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
    ]
    if len(kept) < 2:
        raise PlanError("there is no cable in it")
    head = [cell.lower() for cell in kept[0][1]]
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise PlanError(f"line {kept[0][0]}: no column {missing[0]}; needed: {','.join(COLUMNS)}")
    at = [head.index(name) for name in COLUMNS]
    short = next(((number, row) for number, row in kept[1:] if len(row) <= max(at)), None)
    if short is not None:
        raise PlanError(f"line {short[0]}: {len(short[1])} columns, not {len(head)}")
    return tuple((number, row[at[0]], row[at[1]], row[at[2]], row[at[3]]) for number, row in kept[1:])


def _from_csv(text: str) -> tuple[Planned, ...]:
    planned = []
    used: dict[tuple[str, int], int] = {}
    for number, first, first_port, second, second_port in rows(text):
        cable = Planned(_place(number, first, first_port), _place(number, second, second_port), number)
        for place in (cable.one, cable.other):
            key = (place.guid or place.name.lower(), place.port)
            if key in used:
                raise PlanError(f"line {number}: {place} has a cable in line {used[key]} already")
            used[key] = number
        planned.append(cable)
    return tuple(planned)


def _place(number: int, name: str, port: str) -> Place:
    if not name or not _PORT.fullmatch(port):
        raise PlanError(f"line {number}: {name!r} port {port!r} is not a name and a port number")
    return Place(name, int(port), guid(name) if _GUID.fullmatch(name) else "")
