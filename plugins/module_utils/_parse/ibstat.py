# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibstat`` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator

from .._ground.text import ParseError, complaints, ends_early, flat_lines, no_facts, to_int, to_rate
from ._block import Block

_TOOL = "ibstat"
NOTHING: dict[str, Any] = {"cas": [], "n_cas": 0}
# The first word is the node type: iWARP adapters, and devices of no known type, are listed as well.
_CA = re.compile(r"(CA|Switch|Router|iWARP RNIC|\?\?\?):? '([^']+)'")
_PORT = re.compile(r"Port ([0-9]{1,3}):")
_CA_KEYS = {
    "CA type": "type",
    "Switch type": "type",
    "Router type": "type",
    "iWARP RNIC type": "type",
    "??? type": "type",
    "Number of ports": "n_ports",
    "Firmware version": "fw",
    "Hardware version": "hw",
    "Node GUID": "node_guid",
    "System image GUID": "system_guid",
}
_PORT_KEYS = {
    "State": "state",
    "Physical state": "physical_state",
    "Rate": "rate",
    "Base lid": "lid",
    "LMC": "lmc",
    "SM lid": "sm_lid",
    "Capability mask": "capability_mask",
    "Port GUID": "port_guid",
    "Link layer": "link_layer",
}
_NUMBERS: dict[str, Callable[[str], object]] = {
    **{"n_ports": to_int, "lid": to_int, "lmc": to_int, "sm_lid": to_int},
    "rate": to_rate,
}
# What the contract's dictionary holds; the rest is for the checks.
_CA_SHOWN = ("type", "fw", "node_guid", "n_ports")
_PORT_SHOWN = (
    "state",
    "physical_state",
    "rate",
    "lid",
    "lmc",
    "sm_lid",
    "port_guid",
    "link_layer",
)


@dataclass(frozen=True)
class Port:
    """One port of a CA. Rate in Gb/s; a line that was missing or empty is "" or None."""

    num: int
    state: str
    physical_state: str
    rate: float | None
    lid: int | None
    lmc: int | None
    sm_lid: int | None
    capability_mask: str
    port_guid: str
    link_layer: str


@dataclass(frozen=True)
class Ca:
    """One channel adapter. `n_ports` is what it announces, `ports` what was really listed."""

    name: str
    type: str
    n_ports: int | None
    fw: str
    hw: str
    node_guid: str
    system_guid: str
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Ibstat:
    """The CAs that ``ibstat`` listed, and the errors it printed before it gave up.

    ``kinds``: the word before each CA's name. ``shown``: the fields whose line was there, by the
    CA's name or, of a port, ``mlx5_0/1``; an empty line and a missing one are the same in ``cas``.
    ``partial``: CAs and ports of which lines are missing that every version prints. ``unread``: how many
    lines belong to a CA or port whose own line is missing, or have a number that is damaged;
    ``strange``: the first of them, and why.
    """

    cas: tuple[Ca, ...]
    error_lines: tuple[str, ...]
    kinds: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    shown: tuple[tuple[str, tuple[str, ...]], ...] = field(default=(), compare=False)
    partial: tuple[str, ...] = field(default=(), compare=False)
    unread: int = 0
    strange: str = field(default="", compare=False)


class _CaBlock(Block):
    def __init__(self, name: str, kind: str) -> None:
        super().__init__(_TOOL, name)
        self.kind = kind
        self.ports: dict[int, Block] = {}
        self.port: Block | None = None


class _Reader:
    """Sorts lines into blocks by their keys; indentation tells nothing, it may be lost."""

    def __init__(self) -> None:
        self.cas: dict[str, _CaBlock] = {}
        self.ca: _CaBlock | None = None
        self.n_values = 0
        self.last = 0  # the number of the line that the text ends within
        self.strange: list[ParseError] = []
        self.nameless = False
        self.damaged: dict[str, None] = {}  # the CAs of whose numbers one is

    def take(self, line_no: int, line: str) -> None:
        header = _CA.fullmatch(line)
        port = _PORT.fullmatch(line)
        if header is not None:
            self._open_ca(line_no, line, header.group(2), header.group(1))
        elif port is not None:
            self._open_port(line_no, line, int(port.group(1)))
        else:
            key, colon, value = line.partition(":")
            if colon:
                self._put(line_no, line, key.rstrip(), value.strip())

    def _open_ca(self, line_no: int, line: str, name: str, kind: str) -> None:
        if name in self.cas:
            again = self.cas[name]
            # The same line twice in a row is a copying slip; a second block is another host's.
            if again is not self.ca or again.values or again.ports:
                raise ParseError(_TOOL, line_no, line, "this CA was already listed")
            return
        self.ca = self.cas[name] = _CaBlock(name, kind)

    def _open_port(self, line_no: int, line: str, num: int) -> None:
        if self.ca is None:
            self._leave(line_no, line, "a port before the first CA")
            return
        if num in self.ca.ports:
            again = self.ca.ports[num]
            # The same line twice in a row is a copying slip.
            if again is not self.ca.port or again.values:
                self.ca = None
                self._leave(line_no, line, "this port was already listed: its CA's line is missing")
            return
        self.ca.port = self.ca.ports[num] = Block(_TOOL, str(num))

    def _put(self, line_no: int, line: str, key: str, value: str) -> None:
        if key in _CA_KEYS:
            if self.ca is None or self.ca.port is not None or self._contradicts(self.ca, _CA_KEYS[key], value):
                self.ca = None
                self._leave(line_no, line, "belongs to no CA: its 'CA' line is missing")
                return
            self._keep(self.ca, _CA_KEYS[key], line_no, line, value)
        elif key in _PORT_KEYS:
            port = self.ca.port if self.ca is not None else None
            if port is None or self._contradicts(port, _PORT_KEYS[key], value):
                # What comes next is no CA's line, and of no port that is known.
                self.ca = None
                self._leave(line_no, line, "belongs to no port: its 'Port' line is missing")
                return
            self._keep(port, _PORT_KEYS[key], line_no, line, value)

    def _contradicts(self, block: Block, field: str, value: str) -> bool:
        return field in block.values and block.values[field][1] != value

    def _keep(self, block: Block, field: str, line_no: int, line: str, value: str) -> None:
        try:
            if value and field in _NUMBERS:
                _NUMBERS[field](value)
                if line_no == self.last:
                    raise ValueError("the text ends within this number")
        except ValueError as exc:
            self.strange.append(ParseError(_TOOL, line_no, line, str(exc)))
            self.damaged[self.ca.name if self.ca is not None else ""] = None
            return
        block.put(field, line_no, line, value)
        self.n_values += 1

    def _leave(self, line_no: int, line: str, reason: str) -> None:
        self.nameless = True
        self.strange.append(ParseError(_TOOL, line_no, line, reason))


def parse(text: str) -> Ibstat:
    """Read the output of ``ibstat``; raise ParseError where it gives neither a CA nor an error.

    A CA whose announced port count differs from the ports listed is returned as it stands.
    """
    lines = flat_lines(text)
    reader = _Reader()
    reader.last = len(lines) if ends_early(text) else 0
    for line_no, line in enumerate(lines, 1):
        reader.take(line_no, line)
    if reader.strange and not reader.n_values:
        raise reader.strange[0]
    if not reader.cas:
        errors = complaints(lines, warnings=True)
        if not errors:
            reason = "no CA and no error message from here to the end"
            raise no_facts(_TOOL, lines, reason, "empty output: no HCA is there, or its driver has not been loaded")
        return Ibstat((), errors)
    if not reader.n_values:
        raise no_facts(_TOOL, lines, "CAs, but not one line about them that is known")
    cas = tuple(_ca(block) for block in reader.cas.values())
    kinds = tuple((name, block.kind) for name, block in reader.cas.items())
    shown = tuple((name, tuple(entry.values)) for block in reader.cas.values() for name, entry in _named(block))
    first = str(reader.strange[0]) if reader.strange else ""
    return Ibstat(cas, complaints(lines, warnings=False), kinds, shown, _partial(reader), len(reader.strange), first)


def _partial(reader: _Reader) -> tuple[str, ...]:
    """What was not told whole. Old versions show no link layer, so others must have shown one."""
    ports = [(f"{block.name}/{num}", port) for block in reader.cas.values() for num, port in block.ports.items()]
    layers = any("link_layer" in port.values for _name, port in ports)
    wanted = set(_PORT_KEYS.values()) - (set() if layers else {"link_layer"})
    bare = [block.name for block in reader.cas.values() if not block.ports]
    nameless = ["a device without its name"] if reader.nameless else []
    short = [name for name, port in ports if not wanted <= set(port.values)]
    known = {name.partition("/")[0] for name in (*bare, *short)}
    return (*nameless, *bare, *short, *(name for name in reader.damaged if name not in known))


def _named(block: _CaBlock) -> Iterator[tuple[str, Block]]:
    yield block.name, block
    for num, port in block.ports.items():
        yield f"{block.name}/{num}", port


def facts(parsed: Ibstat) -> dict[str, Any]:
    """The same as a JSON-ready dictionary; what has no line is left out."""
    cas = []
    shown = dict(parsed.shown)
    for ca in parsed.cas:
        found: dict[str, Any] = {"name": ca.name}
        lines = shown.get(ca.name, ())
        found.update({key: getattr(ca, key) for key in _CA_SHOWN if key in lines})
        found["ports"] = [
            {"num": port.num, **_port_facts(port, shown.get(f"{ca.name}/{port.num}", ()))} for port in ca.ports
        ]
        cas.append(found)
    result: dict[str, Any] = {"cas": cas, "n_cas": len(cas), "cut": bool(parsed.partial), "unread": parsed.unread}
    if parsed.error_lines:
        result["error_lines"] = list(parsed.error_lines)
        if not cas:
            result["n"] = 0
    return result


def _port_facts(port: Port, lines: tuple[str, ...]) -> dict[str, Any]:
    return {key: getattr(port, key) for key in _PORT_SHOWN if key in lines}


def _ca(block: _CaBlock) -> Ca:
    return Ca(
        name=block.name,
        type=block.text("type"),
        n_ports=block.number("n_ports", "Number of ports", to_int),
        fw=block.text("fw"),
        hw=block.text("hw"),
        node_guid=block.text("node_guid"),
        system_guid=block.text("system_guid"),
        ports=tuple(_port(num, port) for num, port in block.ports.items()),
    )


def _port(num: int, block: Block) -> Port:
    return Port(
        num=num,
        state=block.text("state"),
        physical_state=block.text("physical_state"),
        rate=block.number("rate", "Rate", to_rate),
        lid=block.number("lid", "Base lid", to_int),
        lmc=block.number("lmc", "LMC", to_int),
        sm_lid=block.number("sm_lid", "SM lid", to_int),
        capability_mask=block.text("capability_mask"),
        port_guid=block.text("port_guid"),
        link_layer=block.text("link_layer"),
    )
