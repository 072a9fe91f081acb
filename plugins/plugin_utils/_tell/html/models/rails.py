# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rail of every host: state, rate and GID of its port, and which port is unlike the others.

A class of equal hosts is one map. Of many hosts those with equal ports are one row, so that the odd
ones are seen at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .....module_utils._ground.check import FAIL
from .....module_utils._ground.equals import most_have
from ...picture.model import natural
from . import fleet, judged
from .ports import Port, ports
from .text import Names, brief, names

# Hosts with a row each, rows of a map, columns of a map, and maps.
EACH = 64
ROWS = 60
COLUMNS = 32
MAPS = 12


@dataclass(frozen=True)
class Row:
    """Hosts whose ports are equal; None where a host has no such port."""

    hosts: Names
    count: int
    ports: tuple[Port | None, ...]

    @property
    def odd(self) -> bool:
        """Whether a port of theirs is not as it should be, or unlike the others."""
        return any(map(_is_odd, self.ports))


@dataclass(frozen=True)
class Map:
    """One class. ``looks``: host by rail, of all its hosts, for the picture. ``odd``: hosts with a
    port that is not as it should be or unlike the others. ``more_*``: what is left out."""

    name: str
    hosts: tuple[str, ...]
    rails: tuple[str, ...]
    rows: list[Row]
    looks: list[list[str]]
    odd: int
    more_rows: int = 0
    more_rails: int = 0


@dataclass(frozen=True)
class Rails:
    """``unseen``: hosts of which no port is known."""

    maps: list[Map]
    unseen: Names
    more_maps: int = 0


def read(run: Mapping[str, Any]) -> Rails:
    """Of all hosts of a run object."""
    seen = fleet.hosts(run)
    found = {entry.name: ports(entry) for entry in seen}
    reported = [entry for entry in seen if found[entry.name]]
    classes = fleet.classes(reported, fleet.size(run))
    return Rails(
        [_map(kind, found) for kind in classes[:MAPS]],
        names((entry.name for entry in seen if not found[entry.name]), 20),
        max(0, len(classes) - MAPS),
    )


def _map(entry: fleet.Class, found: Mapping[str, Mapping[str, Port]]) -> Map:
    every = sorted({rail for host in entry.hosts for rail in found[host.name]}, key=natural)
    rails = every[:COLUMNS]
    usual = {rail: _usual([found[host.name].get(rail) for host in entry.hosts]) for rail in rails}
    lines: dict[str, list[Port | None]] = {}
    for host in entry.hosts:
        lines[host.name] = [_marked(found[host.name].get(rail), usual[rail]) for rail in rails]
    rows = _rows(lines)
    odd = sum(any(_is_odd(port) for port in line) for line in lines.values())
    return Map(
        brief(entry.name),
        tuple(lines),
        tuple(rails),
        rows[:ROWS] if len(lines) > EACH else rows,
        [[_look(port) for port in line] for line in lines.values()],
        odd,
        max(0, len(rows) - ROWS) if len(lines) > EACH else 0,
        len(every) - len(rails),
    )


def _usual(some: Sequence[Port | None]) -> tuple[str, ...] | None:
    """What more than half of at least three have."""
    reported = ["\n".join(entry.signature) for entry in some if entry is not None]
    found = most_have(reported)
    return tuple(found[0].split("\n")) if found else None


def _marked(port: Port | None, usual: tuple[str, ...] | None) -> Port | None:
    if port is None or usual is None or port.signature == usual:
        return port
    return Port(port.look, port.state, port.rate, port.gid, port.own, True, port.why)


def _is_odd(port: Port | None) -> bool:
    return port is None or port.odd or port.look != judged.OK


def _look(port: Port | None) -> str:
    """What a picture shows of it: a word of _tell/picture/rails."""
    if port is None:
        return ""
    return "odd" if port.odd and port.look == judged.OK else port.look


def _rows(lines: Mapping[str, list[Port | None]]) -> list[Row]:
    """The rows, those with something odd first; of few hosts one each, in their order."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for host, line in lines.items():
        own: tuple[object, ...] = (host,) if len(lines) <= EACH else ()
        key = (*own, *((entry.look, entry.signature) if entry else None for entry in line))
        groups.setdefault(key, []).append(host)
    found = []
    for members in groups.values():
        line = lines[members[0]]
        if len(members) > 1:
            # What is a host's own is told of none.
            line = [entry and _shared(entry) for entry in line]
        found.append((Row(names(members), len(members), tuple(line)), _weight(line)))
    if len(lines) > EACH:
        found.sort(key=lambda item: (-item[1], -item[0].count))
    return [row for row, _unused in found]


def _shared(port: Port) -> Port:
    return Port(port.look, port.state, port.rate, port.gid, "", port.odd, port.why)


def _weight(line: Sequence[Port | None]) -> int:
    failed = sum(entry is not None and entry.look == FAIL for entry in line)
    return 100 * failed + sum(map(_is_odd, line))
