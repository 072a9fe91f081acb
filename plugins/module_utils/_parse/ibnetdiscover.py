# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibnetdiscover`` prints: the topology, the ports (``-p``) or the nodes (``-l``)."""

from __future__ import annotations

import re
from typing import Any

from .._ground.text import ParseError, flat_lines
from ._fabric import NAME, PLAIN, Strange, errors_only, tool_errors
from ._topology import CA, NODES, PORTS, ROUTER, SWITCH, TOPOLOGY, Ibnetdiscover, Link, Node

_TOOL = "ibnetdiscover"
NOTHING: dict[str, Any] = {"switches": 0, "cas": 0, "routers": 0, "link_widths": {}}
_TYPES = {
    **{"Switch": SWITCH, "Ca": CA, "Rt": ROUTER, "Router": ROUTER, "???": "unknown"},
    **{"SW": SWITCH, "CA": CA, "RT": ROUTER, "S": SWITCH, "H": CA, "R": ROUTER},
    **{"??": "unknown", "?": "unknown"},
}
_GUID = "[0-9a-fA-F]{1,16}"
_NODE, _NODE_WRAPPED = (
    re.compile(
        rf'(Switch|Ca|Rt|\?\?\?) ([0-9]{{1,3}}) "[SHR?]-({_GUID})" ?# ?{name}'
        r"(?: (?:enhanced|base) port 0 lid ([0-9]{1,10}) lmc [0-9]{1,3})?"
    )
    for name in (NAME, PLAIN)
)
_PORT, _PORT_WRAPPED = (
    re.compile(
        rf"\[([0-9]{{1,3}})\](?:\[ext [0-9]{{1,4}}\])? ?(?:\(({_GUID})\))? ?"
        rf'"([SHR?])-({_GUID})"\[([0-9]{{1,3}})\](?:\[ext [0-9]{{1,4}}\])? ?(?:\(({_GUID})\))? ?'
        rf"# ?(?:lid ([0-9]{{1,10}}) lmc [0-9]{{1,3}} )?{name} lid ([0-9]{{1,10}}) "
        r"([0-9]{1,2}x|\?\?)(\?\?\?|[A-Z]{3}[0-9]{0,3})"
    )
    for name in (NAME, PLAIN)
)
_LISTED_PORT = re.compile(
    r"(SW|CA|RT|\?\?) ([0-9]{1,10}) ([0-9]{1,3}) 0x([0-9a-fA-F]{1,16}) "
    r"([0-9]{1,2}x|\?\?) (\?\?\?|[A-Z]{3}[0-9]{0,3})"
)
_LISTED_PEER = re.compile(r" - (SW|CA|RT|\?\?) ([0-9]{1,10}) ([0-9]{1,3}) 0x([0-9a-fA-F]{1,16}) \( ?'")
_LISTED_NODE = re.compile(
    r"(Ca|Switch|Router|\?\?\?) ?: ?0x([0-9a-fA-F]{1,16}) ports ([0-9]{1,3}) "
    r"devid 0x([0-9a-fA-F]{1,8}) vendid 0x[0-9a-fA-F]{1,8} " + NAME
)
_FROM = re.compile(rf"# Initiated from node ({_GUID}) port ({_GUID})")
_ID = re.compile(rf"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=0x({_GUID})(?:\({_GUID}\))?")
_WARNED = "ibwarn:"


class _Shape(ParseError):
    """A line that is not of the form that its beginning promises."""


class _Building:
    """A node whose lines are still being read."""

    __slots__ = (
        "dangling",
        "device_id",
        "guid",
        "lid",
        "links",
        "n_ports",
        "name",
        "system",
        "type",
    )

    def __init__(self, kind: str, guid: str, name: str, n_ports: int | None = None) -> None:
        self.type = kind
        self.guid = guid
        self.name = name
        self.n_ports = n_ports
        self.lid: int | None = None
        self.device_id = ""
        self.system = ""
        self.links: dict[int, Link] = {}
        self.dangling: dict[int, tuple[int, str, str]] = {}

    def done(self) -> Node:
        return Node(
            self.type,
            self.guid,
            self.name,
            self.n_ports,
            self.lid,
            self.device_id,
            self.system,
            tuple(self.links.values()),
            tuple(self.dangling.values()),
        )


class _Reader:
    """Sorts lines by how they begin; what begins otherwise is no line of this tool's."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.format = ""
        self.nodes: dict[tuple[str, str], _Building] = {}
        self.node: _Building | None = None
        self.ids: dict[str, str] = {}
        self.initiated_from = ""
        self.strange = Strange()
        self.leave_ports = False  # those of a node whose own line is strange

    def read(self) -> None:
        for line_no, line in enumerate(self.lines, 1):
            try:
                self._take(line_no, line)
            except _Shape as exc:
                self.strange.leave(exc)

    def _take(self, line_no: int, line: str) -> None:
        first = line[:1]
        if first == "[":
            self._port(line_no, line)
        elif first in "SCR?":
            if line.startswith(("SW ", "CA ", "RT ", "?? ")):
                self._listed_port(line_no, line)
            elif line.startswith(("Switch ", "Ca ", "Rt ", "Router ", "??? ")):
                self._node(line_no, line)
        elif first in "vdscr":
            found = _ID.match(line)
            if found is not None:
                self._id(found.group(1), found.group(2))
        elif first == "#" and not self.initiated_from:
            found = _FROM.match(line)
            self.initiated_from = _guid(found.group(1)) if found else ""

    def _id(self, key: str, value: str) -> None:
        if key == "vendid":
            # The first line of a node's block: what follows is no port of the last one.
            self.ids = {}
            self.node, self.leave_ports = None, False
        self.ids[key] = value

    def _node(self, line_no: int, line: str) -> None:
        if ":" in line[:9] and _LISTED_NODE.match(line):
            self._listed_node(line_no, line)
            return
        match = _NODE.match(line) or _NODE_WRAPPED.match(self._wrapped(line_no))
        if match is None:
            self.node, self.leave_ports = None, True
            raise _Shape(_TOOL, line_no, line, 'not \'TYPE N "TYPE-GUID" # "NAME"\'')
        kind, n_ports, guid, name, lid = match.groups()
        self._use(line_no, line, TOPOLOGY)
        node = self._new(line_no, line, _TYPES[kind], guid, name.strip(), int(n_ports))
        node.lid = None if lid is None else int(lid)
        node.device_id = self.ids.get("devid", "")
        node.system = _guid(self.ids.get("sysimgguid", ""))
        self.ids = {}
        self.node, self.leave_ports = node, False

    def _new(self, line_no: int, line: str, kind: str, guid: str, name: str, n_ports: int) -> _Building:
        key = (kind, _guid(guid))
        known = self.nodes.get(key)
        if known is not None:
            # The same line twice in a row is a copying slip; a second block is another run's.
            if known.links or (known.name, known.n_ports) != (name, n_ports):
                raise ParseError(_TOOL, line_no, line, "this node was already listed")
            return known
        node = self.nodes[key] = _Building(*key, name, n_ports)
        return node

    def _port(self, line_no: int, line: str) -> None:
        match = _PORT.match(line) or _PORT_WRAPPED.match(self._wrapped(line_no))
        if match is None:
            raise _Shape(_TOOL, line_no, line, 'not \'[PORT] "TYPE-GUID"[PORT] # "NAME" lid N WIDTHSPEED\'')
        if self.node is None and self.leave_ports:
            return
        if self.node is None:
            self.leave_ports = True
            raise _Shape(_TOOL, line_no, line, "belongs to no node: its line is missing")
        port, own, kind, peer, peer_port, _guid_of_port, lid, name, peer_lid, width, speed = match.groups()
        link = Link(
            int(port),
            None if lid is None else int(lid),
            width,
            speed,
            _TYPES[kind],
            _guid(peer),
            int(peer_port),
            int(peer_lid),
            name,
            _guid(own or ""),
        )
        if self.node.links.setdefault(link.port, link) != link:
            raise ParseError(_TOOL, line_no, line, "this port was already listed otherwise")

    def _listed_port(self, line_no: int, line: str) -> None:
        match = _LISTED_PORT.match(line)
        if match is None:
            raise _Shape(_TOOL, line_no, line, "not 'TYPE LID PORT 0xGUID WIDTH SPEED' at its beginning")
        kind, lid, port, guid, width, speed = match.groups()
        rest = line[match.end() :]
        peer = _LISTED_PEER.match(rest)
        if peer is None and rest.startswith(" - "):
            rest = self._wrapped(line_no)[match.end() :]
            peer = _LISTED_PEER.match(rest)
            if peer is None:
                raise _Shape(_TOOL, line_no, line, "cut within the other end")
        self._use(line_no, line, PORTS)
        node = self.nodes.setdefault((_TYPES[kind], _guid(guid)), _Building(_TYPES[kind], _guid(guid), ""))
        node.lid = int(lid)
        number = int(port)
        known = node.links.get(number) or node.dangling.get(number)
        end: Link | tuple[int, str, str]
        if peer is None:
            node.name = node.name or rest.strip(" '")
            end = node.dangling[number] = (number, width, speed)
        else:
            own, _mark, other = rest[peer.end() :].rpartition("' - '")
            node.name = node.name or own.strip()
            end = node.links[number] = Link(
                number,
                int(lid),
                width,
                speed,
                _TYPES[peer.group(1)],
                _guid(peer.group(4)),
                int(peer.group(3)),
                int(peer.group(2)),
                other.rstrip("') ").strip(),
            )
        if known not in (None, end):
            raise ParseError(_TOOL, line_no, line, "this port was already listed otherwise")

    def _listed_node(self, line_no: int, line: str) -> None:
        match = _LISTED_NODE.match(line)
        if match is None:
            raise AssertionError("the pattern was seen to fit before")
        kind, guid, n_ports, device, name = match.groups()
        self._use(line_no, line, NODES)
        node = self._new(line_no, line, _TYPES[kind], guid, name.strip(), int(n_ports))
        node.device_id = device

    def _use(self, line_no: int, line: str, layout: str) -> None:
        if self.format and self.format != layout:
            raise ParseError(_TOOL, line_no, line, f"a {layout} line in a {self.format} text")
        self.format = layout

    def _wrapped(self, line_no: int) -> str:
        """A line with the next one that says anything: a mail client may have wrapped it once."""
        line = self.lines[line_no - 1]
        for more in self.lines[line_no : line_no + 3]:
            if more and not more.startswith(_WARNED):
                return f"{line} {more}"
        return line


def parse(text: str) -> Ibnetdiscover:
    """Read the output of ``ibnetdiscover``; raise ParseError where it gives no node and no error.

    A node without links is returned as it stands: its ports are not connected, or nobody answered.
    """
    lines = flat_lines(text)
    reader = _Reader(lines)
    reader.read()
    left = reader.strange.told(sum(len(node.links) + len(node.dangling) + 1 for node in reader.nodes.values()))
    if not reader.nodes:
        return Ibnetdiscover("", (), "", errors_only(_TOOL, lines, "no node"))
    return Ibnetdiscover(
        reader.format,
        tuple(node.done() for node in reader.nodes.values()),
        reader.initiated_from,
        (*left, *tool_errors(lines, warnings=False)),
    )


def facts(parsed: Ibnetdiscover) -> dict[str, Any]:
    """The facts as JSON-ready values; ``error`` only where the tool could not look."""
    widths: dict[str, int] = {}
    for node in parsed.nodes:
        for link in node.links:
            key = link.width + link.speed
            widths[key] = widths.get(key, 0) + 1
    found: dict[str, Any] = {
        "switches": len(parsed.of(SWITCH)),
        "cas": len(parsed.of(CA)),
        "routers": len(parsed.of(ROUTER)),
        "link_widths": widths,
        "error_lines": list(parsed.error_lines),
    }
    if parsed.format:
        found["format"] = parsed.format
    if parsed.format == PORTS:
        found.update(_ports_list(parsed))
    if not parsed.nodes:
        found.update(error=True, n=0)
    return found


def _ports_list(parsed: Ibnetdiscover) -> dict[str, int]:
    """How many lines of each kind the list has."""
    lines = {
        node: [link.speed for link in node.links] + [speed for _port, _width, speed in node.dangling]
        for node in parsed.nodes
    }
    return {
        "lines": sum(len(speeds) for speeds in lines.values()),
        "ca_lines": sum(len(speeds) for node, speeds in lines.items() if node.type == CA),
        "sw_lines": sum(len(speeds) for node, speeds in lines.items() if node.type == SWITCH),
        "unknown_speed_lines": sum(speeds.count("???") for speeds in lines.values()),
    }


def _guid(text: str) -> str:
    return text.lower().lstrip("0")
