# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibqueryerrors`` prints. Its status 1 only says that some counter is above zero."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .._ground.text import ParseError, flat_lines, is_warning
from ._fabric import Strange, errors_only, tool_errors

_TOOL = "ibqueryerrors"
NOTHING: dict[str, Any] = {
    "nodes": [],
    "nodes_checked": None,
    "bad_nodes": None,
    "ports_checked": None,
    "ports_with_errors": None,
    "unread": 0,
}
# The line of all ports of a switch together.
ALL = "ALL"
_HEADERS = ("Errors for ", "Data Counters for ")
_HEADER = re.compile(r'(?:Errors|Data Counters) for (?:(0x[0-9a-fA-F]{1,16}) )?"(.*)"')
_PORT = re.compile(r"GUID (0x[0-9a-fA-F]{1,16}) port ([0-9]{1,3}|ALL):")
# The second number is the first for people: 19.353K, 1.25MB.
_COUNTER = re.compile(r" ?\[ ?([A-Za-z0-9_]{1,60}) ?== ?([0-9]{1,20})( \([^()\[\]]*\))? ?\]")
_NODES = re.compile(r"([0-9]{1,10}) nodes checked, ([0-9]{1,10}) bad nodes found")
_PORTS = re.compile(r"([0-9]{1,10}) ports checked, ([0-9]{1,10}) ports have errors beyond")
_FAILURES = re.compile(r"([0-9]{1,10}) PMA query failures")
_MORE_LINES = 6
_OTHER_LINES = ("GUID ", *_HEADERS, "##", "Link info:")
# What is left of a line that lost its beginning.
_REST = re.compile(
    r"\bGUID 0x|\brrors for |\bounters for |== ?[0-9]{1,20}(?: \([^()]{1,40}\))? ?\]|\bport [0-9]{1,3}: ?\["
)
# The ports of one adapter have GUIDs in a row.
_IN_A_ROW = 8
# A GUID that a person copied without its end has so many characters, and still names its switch.
_ENOUGH = 14


@dataclass(frozen=True)
class Port:
    """The counters of one port above its threshold; ``port`` is its number or ALL.

    ``wide``: those of 64 bits, which are printed with their value for people behind them.
    """

    guid: str
    port: str
    counters: dict[str, int] = field(default_factory=dict)
    wide: tuple[str, ...] = ()

    @property
    def place(self) -> int:
        """Where it stands among the ports of its node."""
        return -1 if self.port == ALL else int(self.port)


@dataclass(frozen=True)
class Node:
    """One node with such ports; ``guid`` only where the header shows it (switches).

    Without a name its header is missing or cannot be read.
    """

    guid: str
    name: str
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Ibqueryerrors:
    """The report. The counts are None where its summary is missing: the text may be cut.

    ``cut``: which part is missing, "" where none is. ``unread``: how many lines cannot be read, or not all of
    their counters; ``error_lines`` names them.
    """

    nodes: tuple[Node, ...]
    nodes_checked: int | None = None
    bad_nodes: int | None = None
    ports_checked: int | None = None
    ports_with_errors: int | None = None
    query_failures: int = 0
    error_lines: tuple[str, ...] = ()
    cut: str = ""
    unread: int = 0

    @property
    def partial(self) -> str:
        """Why these are not all counters, "" where they are."""
        return self.cut or (f"{self.unread} of its lines cannot be read" if self.unread else "")


def parse(text: str) -> Ibqueryerrors:
    """Read the output of ``ibqueryerrors``; raise ParseError where it gives no fact, no error."""
    lines = flat_lines(text)
    reader = _Reader(lines)
    summary = _summary(lines)
    reader.read()
    ports = [port for block in reader.blocks for port in block.ports]
    left = reader.strange.kept(bool(ports) or summary is not None)
    if not reader.blocks and summary is None:
        return Ibqueryerrors((), error_lines=errors_only(_TOOL, lines, "no node and no summary"))
    counts = summary or (None, None, None, None, 0)
    errors = (*left, *tool_errors(lines, warnings=False))
    cut = reader.cut or _missing(len(reader.blocks), counts[1], sum(port.port != ALL for port in ports), counts[3])
    return Ibqueryerrors(tuple(block.node() for block in reader.blocks), *counts, errors, cut, len(left))


def facts(parsed: Ibqueryerrors) -> dict[str, Any]:
    """The facts as JSON-ready values; ``error`` only where the tool could not look."""
    found: dict[str, Any] = {
        "nodes": [
            {
                "node": node.name,
                "ports": [{"guid": port.guid, "port": port.port, "counters": port.counters} for port in node.ports],
            }
            for node in parsed.nodes
        ],
        "nodes_checked": parsed.nodes_checked,
        "bad_nodes": parsed.bad_nodes,
        "ports_checked": parsed.ports_checked,
        "ports_with_errors": parsed.ports_with_errors,
        "error_lines": list(parsed.error_lines),
        "cut": bool(parsed.cut),
        "unread": parsed.unread,
    }
    if not parsed.nodes and parsed.nodes_checked is None:
        found["error"] = True
    return found


class _Block:
    """A node, and the ports that stand below its header."""

    def __init__(self, guid: str = "", name: str = "") -> None:
        self.guid = guid
        self.name = name
        self.ports: list[Port] = []

    def node(self) -> Node:
        return Node(self.guid, self.name, tuple(self.ports))

    def fits(self, port: Port) -> bool:
        """Whether the port is this node's, and no header is missing before its line.

        A node's ports come in their order, those of a switch all with the GUID of its header.
        """
        last = self.ports[-1] if self.ports else None
        if last is not None and last != port and port.place <= last.place:
            return False
        if self.guid:
            short, whole = sorted((port.guid, self.guid), key=len)
            return port.guid == self.guid or (len(short) >= _ENOUGH and whole.startswith(short))
        if self.name and port.port == ALL:  # which only switches have
            return False
        if last is None:
            return True
        return abs(int(port.guid, 16) - int(last.guid, 16)) <= _IN_A_ROW


class _Reader:
    """Sorts ports below their nodes. ``cut``: which header is missing, "" for none."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.blocks: list[_Block] = []
        self.strange = Strange()
        self.cut = ""

    def read(self) -> None:
        wrapped = 0
        for line_no, line in enumerate(self.lines, 1):
            if line.startswith(_HEADERS):
                self._header(line_no, line)
            elif line.startswith("GUID "):
                wrapped = self._port(line_no, line)
            elif line_no > wrapped and _is_rest(line):
                self.strange.leave(ParseError(_TOOL, line_no, line, "its beginning is missing"))

    def _header(self, line_no: int, line: str) -> None:
        match = _HEADER.fullmatch(line)
        if match is None:
            # Each port's line has the GUID, so that a node without its name is a node.
            self.strange.leave(ParseError(_TOOL, line_no, line, "not 'Errors for 0xGUID \"NAME\"'"))
            self.blocks.append(_Block())
        else:
            self.blocks.append(_Block(match.group(1) or "", match.group(2).strip()))

    def _port(self, line_no: int, line: str) -> int:
        """Keep what can be read of a port's line; gives the number of the last line that it is wrapped into."""
        head = _PORT.match(line)
        if head is None:
            self.strange.leave(ParseError(_TOOL, line_no, line, "not 'GUID 0xGUID port N: [COUNTER == N]'"))
            return line_no
        rest, last = _unwrapped(self.lines, line_no, line[head.end() :])
        counters, wide, strange = _counters(rest)
        port = Port(head.group(1), head.group(2), counters, wide)
        if strange or not counters:
            why = f"not '[COUNTER == N]' from {strange!r} on" if strange else "no counter behind the port"
            self.strange.leave(ParseError(_TOOL, line_no, line, why))
        if counters:
            self._keep(line_no, port)
        return last

    def _keep(self, line_no: int, port: Port) -> None:
        if not self.blocks or not self.blocks[-1].fits(port):
            self.cut = self.cut or f"line {line_no} belongs to no node: its header is missing"
            self.blocks.append(_Block())
        if port not in self.blocks[-1].ports[-1:]:
            self.blocks[-1].ports.append(port)


def _is_rest(line: str) -> bool:
    """Whether a line, which begins as none of the tool's does, was one that told of a node or a port."""
    return not line.startswith(_OTHER_LINES) and not is_warning(line) and _REST.search(line) is not None


def _unwrapped(lines: list[str], line_no: int, rest: str) -> tuple[str, int]:
    """The counters of a port's line with those of the lines that it was wrapped into, and the last of these."""
    last = line_no
    for at, more in enumerate(lines[line_no : line_no + _MORE_LINES], line_no + 1):
        if more.startswith(_OTHER_LINES):
            break
        if more.startswith("[") or (more and not is_warning(more) and not rest.endswith("]")):
            rest, last = f"{rest} {more}", at
    return rest, last


def _counters(rest: str) -> tuple[dict[str, int], tuple[str, ...], str]:
    """Every counter that can be read, those of 64 bits, and where reading failed first ("": nowhere)."""
    counters: dict[str, int] = {}
    wide: list[str] = []
    strange = ""
    place = 0
    while 0 <= place < len(rest):
        match = _COUNTER.match(rest, place)
        if match is None:
            strange = strange or rest[place : place + 40]
            place = rest.find("[", place + len(" [" if rest.startswith(" [", place) else "["))
            continue
        name, value = match.group(1), int(match.group(2))
        if counters.setdefault(name, value) != value:
            strange = strange or rest[place : place + 40]
        if match.group(3):
            wide.append(name)
        place = match.end()
    return counters, tuple(wide), strange


def _missing(nodes: int, bad_nodes: int | None, ports: int, bad_ports: int | None) -> str:
    """Which part of the report is not there, by its own summary."""
    if bad_ports is None:
        return "no summary: the output may be cut"
    if ports < bad_ports:
        return f"it lists {ports} of {bad_ports} ports with errors: the output may be cut"
    if nodes < (bad_nodes or 0):
        return f"it lists {nodes} of {bad_nodes} nodes with errors: the output may be cut"
    return ""


def _summary(lines: list[str]) -> tuple[int | None, int | None, int | None, int | None, int] | None:
    """Nodes checked and bad, ports checked and bad, questions that nobody answered."""
    reported = " ".join(line.lstrip("# ") for line in lines if line.startswith("##"))
    nodes, ports, failures = _NODES.search(reported), _PORTS.search(reported), _FAILURES.search(reported)
    if nodes is None and ports is None:
        return None
    return (
        None if nodes is None else int(nodes.group(1)),
        None if nodes is None else int(nodes.group(2)),
        None if ports is None else int(ports.group(1)),
        None if ports is None else int(ports.group(2)),
        0 if failures is None else int(failures.group(1)),
    )
