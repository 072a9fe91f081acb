# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``ibdiagnet2.db_csv``: the sections of ibdiagnet's database of a fabric, each a table with a head."""

from __future__ import annotations

import csv
import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import clean_lines, no_facts

_TOOL = "ibdiagnet_db"
NOTHING: dict[str, Any] = {
    "sections": {},
    "nodes": {},
    "ports": 0,
    "port_states": {},
    "links": 0,
    "slow_links": [],
    "counters": [],
    "sms": [],
    "errors": [],
    "warnings": [],
    "error_counts": {},
    "warning_counts": {},
    "unread": 0,
    "cut": False,
}
_EDGE = re.compile(r"(START|END)_([A-Z][A-Z0-9_]{1,80})")
_GUID_COLUMN = re.compile(r"(?:node|port)guid[12]?|scope", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,20}|0x[0-9a-fA-F]{1,16}")
_SHOWN = 100
_TOLD = 20

_TYPES = {1: "cas", 2: "switches", 3: "routers"}
_STATES = {1: "Down", 2: "Initialize", 3: "Armed", 4: "Active"}
_MANAGERS = {0: "not active", 1: "discovering", 2: "standby", 3: "master"}
_LINK_UP = 5
# ibutils2, Fabric.h: bits of widths, and of speeds in Gb/s a lane; FDR10 and EDR20 are Mellanox's own.
_WIDTHS = {1: 1, 16: 2, 2: 4, 4: 8, 8: 12}
_SPEEDS = {
    1: 2.5,
    2: 5.0,
    4: 10.0,
    1 << 16: 10.3125,
    1 << 8: 14.0625,
    2 << 16: 20.0,
    2 << 8: 25.78125,
    4 << 8: 53.125,
    8 << 8: 106.25,
    1 << 24: 212.5,
}
# Counters that rise on errors only; those of 64 bits have Ext behind the name.
_ERRORS = frozenset(
    (
        "symbolerrorcounter",
        "linkerrorrecoverycounter",
        "linkdownedcounter",
        "portrcverrors",
        "portrcvremotephysicalerrors",
        "portxmitdiscard",
        "portxmitdiscards",
        "portxmitconstrainterrors",
        "portrcvconstrainterrors",
        "locallinkintegrityerrors",
        "excessivebufferoverrunerrors",
        "vl15dropped",
        "qp1dropped",
    )
)


@dataclass(frozen=True)
class Port:
    """A port of the table; None where a value is no number."""

    guid: str
    number: int
    lid: int | None
    state: int | None
    phys: int | None
    width: tuple[int | None, int | None, int | None]
    speed: tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class SlowLink:
    """A link that does less than both ends could. Speeds in Gb/s a lane; 0 and "" where that is right.

    ``node`` and ``peer`` are descriptions, "" where the text has none.
    """

    node: str
    guid: str
    port: int
    peer: str
    peer_guid: str
    peer_port: int
    width: str = ""
    width_possible: str = ""
    speed_gbps: float = 0
    speed_possible_gbps: float = 0


@dataclass(frozen=True)
class Counters:
    """The error counters of a port that are above zero."""

    node: str
    guid: str
    port: int
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Manager:
    """A subnet manager."""

    node: str
    guid: str
    state: str
    priority: int | None


@dataclass(frozen=True)
class Event:
    """A row of a section of errors or warnings."""

    section: str
    event: str
    node: str
    guid: str
    port: int | None
    summary: str


@dataclass(frozen=True)
class IbdiagnetDb:
    """``sections``: how many rows each has, in the order of the text."""

    sections: tuple[tuple[str, int], ...]
    nodes: tuple[tuple[str, int], ...] = ()
    ports: tuple[Port, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    links: int = 0
    slow_links: tuple[SlowLink, ...] = ()
    counters: tuple[Counters, ...] = ()
    sms: tuple[Manager, ...] = ()
    errors: tuple[Event, ...] = ()
    warnings: tuple[Event, ...] = ()
    unread: int = 0
    cut: bool = False


class _Reading:
    """The tables as they come; only those that are read keep their rows."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.rows: dict[str, list[dict[str, str]]] = {}
        self.open = ""
        self.head: list[str] = []
        self.ours = False
        self.unread = 0

    def line(self, line: str) -> None:
        edge = _EDGE.fullmatch(line)
        if edge is not None:
            self.open = edge.group(2) if edge.group(1) == "START" else ""
            self.head = []
            if self.open:
                self.counts.setdefault(self.open, 0)
        elif not self.open:
            self.unread += not line.startswith("#")
        else:
            self._row(_cells(line))

    def _row(self, cells: list[str]) -> None:
        if not self.head:
            self.head = [cell if _is_error(cell) else cell.lower() for cell in cells]
            self.ours = self.ours or any(_GUID_COLUMN.fullmatch(cell) for cell in cells)
            return
        if len(cells) < len(self.head):
            self.unread += 1
            return
        self.counts[self.open] += 1
        if self.open in _READ or self.open.startswith(("ERRORS", "WARNINGS")):
            self.rows.setdefault(self.open, []).append(dict(zip(self.head, cells)))


_READ = ("NODES", "PORTS", "LINKS", "PM_INFO", "SM_INFO")


def parse(text: str) -> IbdiagnetDb:
    """Read every section; raise ParseError where there is none with a head of ibdiagnet's."""
    lines = clean_lines(text)
    reading = _Reading()
    for line in lines:
        if line.strip():
            reading.line(line.strip())
    if not reading.ours:
        raise no_facts(_TOOL, lines, "no section with a head between START_ and END_")
    rows = reading.rows
    nodes = rows.get("NODES", [])
    names = {_guid(row): _description(row) for row in nodes if _guid(row) and _description(row)}
    ports = tuple(port for port in map(_port, rows.get("PORTS", [])) if port is not None)
    return IbdiagnetDb(
        tuple(reading.counts.items()),
        _types(nodes),
        ports,
        tuple(names.items()),
        reading.counts.get("LINKS", 0),
        _slow(rows.get("LINKS", []), ports, names),
        tuple(found for found in (_counters(row, names) for row in rows.get("PM_INFO", [])) if found is not None),
        tuple(_manager(row, names) for row in rows.get("SM_INFO", [])),
        _events(rows, "ERRORS", names),
        _events(rows, "WARNINGS", names),
        reading.unread,
        bool(reading.open),
    )


def facts(parsed: IbdiagnetDb) -> dict[str, Any]:
    """As docs/parsers.md has it; of long lists the first entries, and how many there are of each event."""
    return {
        "sections": dict(parsed.sections),
        "nodes": dict(parsed.nodes),
        "ports": len(parsed.ports),
        "port_states": _count([_STATES.get(port.state or 0, "unknown") for port in parsed.ports]),
        "links": parsed.links,
        "slow_links": [asdict(link) for link in parsed.slow_links[:_SHOWN]],
        "counters": [
            {"node": found.node, "guid": found.guid, "port": found.port, "counters": dict(found.values)}
            for found in parsed.counters[:_SHOWN]
        ],
        "sms": [asdict(manager) for manager in parsed.sms],
        "errors": [asdict(event) for event in parsed.errors[:_SHOWN]],
        "warnings": [asdict(event) for event in parsed.warnings[:_SHOWN]],
        "error_counts": _count([event.event for event in parsed.errors]),
        "warning_counts": _count([event.event for event in parsed.warnings]),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: IbdiagnetDb) -> tuple[str, ...]:
    """What by this text alone is wrong, worst first: what the tool calls errors, links below what both ends can."""
    found: list[str] = []
    masters = [manager.node or manager.guid for manager in parsed.sms if manager.state == "master"]
    if parsed.sms and not masters:
        found.append("no subnet manager is master")
    if len(masters) > 1:
        found.append(f"{len(masters)} subnet managers are master: {', '.join(masters[:_TOLD])}")
    errors = list(dict.fromkeys(_sentence(event) for event in parsed.errors))
    found += _first(errors, "errors")
    names = dict(parsed.names)
    waiting = [
        f"{names.get(port.guid, port.guid)} port {port.number} is {_STATES[port.state]} with its link up"
        for port in parsed.ports
        if port.state in (2, 3) and port.phys == _LINK_UP
    ]
    found += _first(waiting, "ports that no subnet manager set up")
    found += _first([sentence for link in parsed.slow_links for sentence in _slower(link)], "slow links")
    return tuple(found)


def _first(sentences: list[str], what: str) -> list[str]:
    more = [f"{len(sentences) - _TOLD} more {what}"] if len(sentences) > _TOLD else []
    return [*sentences[:_TOLD], *more]


def _sentence(event: Event) -> str:
    node = event.node or event.guid
    where = node if event.port is None else f"{node} port {event.port}"
    return ": ".join(word for word in (event.event, where, event.summary) if word)


def _slower(link: SlowLink) -> list[str]:
    here, there = link.node or link.guid, link.peer or link.peer_guid
    ends = f"{here} port {link.port} to {there} port {link.peer_port}"
    found = []
    if link.width_possible:
        found.append(f"{ends} runs at {link.width} where both ends can {link.width_possible}")
    if link.speed_possible_gbps:
        can = f"{link.speed_possible_gbps:.9g} Gb/s a lane"
        found.append(f"{ends} runs at {link.speed_gbps:.9g} Gb/s a lane where both ends can {can}")
    return found


def _cells(line: str) -> list[str]:
    """The cells of a line; a line that the csv module refuses is one cell."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True), [])]
    except csv.Error:
        return [line]


def _number(text: str | None) -> int | None:
    if text is None or _NUMBER.fullmatch(text) is None:
        return None
    return int(text, 16) if text.startswith("0x") else int(text)


def _guid(row: dict[str, str], suffix: str = "") -> str:
    return row.get(f"nodeguid{suffix}", "").lower()


def _description(row: dict[str, str]) -> str:
    return row.get("nodedesc", "")


def _types(nodes: list[dict[str, str]]) -> tuple[tuple[str, int], ...]:
    found = _count([_TYPES.get(_number(row.get("nodetype")) or 0, "others") for row in nodes])
    return (("total", len(nodes)), *found.items()) if nodes else ()


def _count(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def _port(row: dict[str, str]) -> Port | None:
    number = _number(row.get("portnum"))
    if number is None:
        return None
    width, speed = (tuple(_number(row.get(f"link{what}{word}")) for word in ("actv", "en", "sup")) for what in _BOTH)
    return Port(
        _guid(row),
        number,
        _number(row.get("lid")),
        _number(row.get("portstate")),
        _number(row.get("portphystate")),
        (width[0], width[1], width[2]),
        (speed[0], speed[1], speed[2]),
    )


_BOTH = ("width", "speed")


def _slow(links: list[dict[str, str]], ports: tuple[Port, ...], names: dict[str, str]) -> tuple[SlowLink, ...]:
    known = {(port.guid, port.number): port for port in ports}
    found = []
    for row in links:
        ends = [(_guid(row, end), _number(row.get(f"portnum{end}"))) for end in ("1", "2")]
        here, there = (known.get((guid, number)) if number is not None else None for guid, number in ends)
        if here is None or there is None or here.state != 4:
            continue
        width = _less(here.width, there.width, _WIDTHS)
        speed = _less(here.speed, there.speed, _SPEEDS)
        if width is None and speed is None:
            continue
        found.append(
            SlowLink(
                names.get(here.guid, ""),
                here.guid,
                here.number,
                names.get(there.guid, ""),
                there.guid,
                there.number,
                f"{width[0]:g}X" if width else "",
                f"{width[1]:g}X" if width else "",
                speed[0] if speed else 0,
                speed[1] if speed else 0,
            )
        )
    return tuple(found)


def _less(
    here: tuple[int | None, int | None, int | None],
    there: tuple[int | None, int | None, int | None],
    bits: dict[int, float] | dict[int, int],
) -> tuple[float, float] | None:
    """What is active and the most that both ends support and have enabled, where that is more."""
    active = bits.get(here[0] or 0)
    allowed = -1
    for mask in (*here[1:], *there[1:]):
        allowed &= -1 if mask is None else mask
    if active is None or None in (here[2], there[2]):
        return None
    possible = max((value for bit, value in bits.items() if allowed & bit), default=0)
    return (active, possible) if possible > active else None


def _short(name: str) -> str:
    return name[:-3] if name.endswith("Ext") else name


def _is_error(name: str) -> bool:
    return _short(name).lower() in _ERRORS


def _counters(row: dict[str, str], names: dict[str, str]) -> Counters | None:
    number = _number(row.get("portnumber") or row.get("portnum"))
    values: dict[str, int] = {}
    for name, text in row.items():
        value = _number(text) if _is_error(name) else None
        if value:
            plain = _short(name)
            values[plain] = max(value, values.get(plain, 0))
    if number is None or not values:
        return None
    return Counters(names.get(_guid(row), ""), _guid(row), number, tuple(values.items()))


def _manager(row: dict[str, str], names: dict[str, str]) -> Manager:
    state = _number(row.get("smstate") or row.get("sm_state") or row.get("state"))
    return Manager(
        names.get(_guid(row), ""),
        row.get("portguid") or row.get("guid") or _guid(row),
        "unknown" if state is None else _MANAGERS.get(state, "unknown"),
        _number(row.get("priority")),
    )


def _events(rows: dict[str, list[dict[str, str]]], kind: str, names: dict[str, str]) -> tuple[Event, ...]:
    return tuple(
        Event(
            section,
            row.get("eventname", ""),
            names.get(_guid(row), ""),
            _guid(row),
            _number(row.get("portnumber")),
            row.get("summary", ""),
        )
        for section, found in rows.items()
        if section.startswith(kind)
        for row in found
    )
