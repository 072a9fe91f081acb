# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-imex-ctl`` tells: ``-N`` of the whole domain, as text or JSON (``-j``), ``-q`` of one daemon."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, few, flat_lines, no_facts

_TOOL = "imex_status"
NOTHING: dict[str, Any] = {
    "daemon": None,
    "domain": None,
    "nodes": [],
    "connected": 0,
    "not_connected": [],
    "unread": 0,
}

# The states of a daemon, as DCGM's field 1503 numbers them.
_STATES = (
    "INITIALIZING",
    "STARTING_AUTH_SERVER",
    "WAITING_FOR_PEERS",
    "WAITING_FOR_RECOVERY",
    "INIT_GPU",
    "READY",
    "SHUTTING_DOWN",
    "UNAVAILABLE",
)
READY, UP = "READY", "UP"
_DOMAINS = ("UP", "DEGRADED", "DOWN")
_WORDS = {
    "I": "invalid",
    "N": "never connected",
    "R": "recovering",
    "D": "disconnected",
    "A": "authenticating",
    "!V!": "version mismatch",
    "!M!": "node map mismatch",
    "C": "connected",
}
_CONNECTED = _WORDS["C"]

# The node that was asked has stars around its address.
_NODE = re.compile(
    r"Node #(\d{1,4}) ([-*]) (\S{1,253})(?: ?\*)? - ([A-Z_]{2,40})(?: - Version:(?: (\S{1,40}))?)?"
    r"(?: - Hostname:(?: (\S{1,253}))?)?"
)
_DOMAIN = re.compile(r"Domain State: ([A-Z]{2,20})")
_COLUMNS = re.compile(r"Nodes From\\To((?: \d{1,4}){1,200})")
_ROW = re.compile(r"(\d{1,4})((?: (?:[A-Z]|![A-Z]!)){1,200})")
_FRAME = re.compile(
    r"Connectivity Table Legend:|(?:[A-Z]|![A-Z]!) - [A-Z][\w ',.-]{3,120}|Nodes:|"
    r"\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}:\d{2}(?:\.\d{1,6})?"
)


@dataclass(frozen=True)
class Node:
    """``host``: as the nodes' file has it. ``asked``: the one that answered. "": not shown."""

    index: int
    host: str
    state: str
    version: str = ""
    hostname: str = ""
    asked: bool = False


@dataclass(frozen=True)
class Connection:
    """What one node says of its way to another."""

    of: int
    to: int
    state: str


@dataclass(frozen=True)
class ImexStatus:
    """``daemon``: what ``-q`` says. ``domain``: UP, DEGRADED or DOWN. "": not shown."""

    daemon: str = ""
    domain: str = ""
    nodes: tuple[Node, ...] = ()
    connections: tuple[Connection, ...] = ()
    unread: int = 0
    cut: bool = False

    @property
    def apart(self) -> tuple[Connection, ...]:
        """The ways that are not open."""
        return tuple(way for way in self.connections if way.state != _CONNECTED)


def parse(text: str) -> ImexStatus:
    """Read the output; raise ParseError where it tells no state of a node, a daemon or a domain."""
    return _json(text) if text.lstrip().startswith("{") else _lines(text)


def _lines(text: str) -> ImexStatus:
    lines = flat_lines(text)
    daemon = domain = ""
    nodes: dict[int, Node] = {}
    ways: dict[tuple[int, int], Connection] = {}
    columns: list[int] = []
    rows: set[int] = set()
    unread = 0
    for line_no, line in enumerate(lines, 1):
        node, head, row = _NODE.fullmatch(line), _COLUMNS.fullmatch(line), _ROW.fullmatch(line)
        state = _DOMAIN.fullmatch(line)
        if node is not None and node.group(4) in _STATES:
            index, mark, host, word, version, hostname = node.groups()
            known = nodes.get(int(index))
            if known is not None and known.host != host:
                raise ParseError(_TOOL, line_no, line, "another domain's node of this number")
            nodes[int(index)] = Node(int(index), host, word, version or "", hostname or "", mark == "*")
        elif head is not None:
            columns = [int(word) for word in head.group(1).split()]
        elif row is not None and columns and len(row.group(2).split()) == len(columns):
            of = int(row.group(1))
            rows.add(of)
            for to, mark in zip(columns, row.group(2).split()):
                ways[of, to] = Connection(of, to, _WORDS.get(mark, mark))
        elif state is not None and state.group(1) in _DOMAINS:
            domain = state.group(1)
        elif line in _STATES:
            daemon = line
        elif line and not _FRAME.fullmatch(line):
            unread += 1
    if not nodes and not domain and (not daemon or unread):
        raise no_facts(_TOOL, lines, "neither a node of the domain nor a state alone")
    cut = bool(nodes or columns) and (not domain or not rows.issuperset(columns or nodes))
    return ImexStatus(daemon, domain, tuple(nodes.values()), tuple(ways.values()), unread, cut)


def _json(text: str) -> ImexStatus:
    first = text.strip().split("\n", 1)[0]
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ParseError(_TOOL, 1, first, "this JSON cannot be read") from exc
    entries = told.get("nodes") if isinstance(told, dict) else None
    if not isinstance(entries, dict) or told.get("status") not in _DOMAINS:
        raise ParseError(_TOOL, 1, first, "no status of a domain with its nodes")
    nodes: list[Node] = []
    ways: list[Connection] = []
    for index, entry in entries.items():
        if not _is_index(index) or not isinstance(entry, dict):
            continue
        words = [entry.get(key) for key in ("host", "status", "version", "hostName")]
        host, state, version, hostname = (word if isinstance(word, str) else "" for word in words)
        nodes.append(Node(int(index), host, state, version, "" if hostname == "N/A" else hostname))
        connections = entry.get("connections")
        for to, way in connections.items() if isinstance(connections, dict) else ():
            if _is_index(to) and isinstance(way, dict) and isinstance(way.get("status"), str):
                ways.append(Connection(int(index), int(to), way["status"].replace("_", " ").lower()))
    nodes.sort(key=lambda node: node.index)
    return ImexStatus("", str(told["status"]), tuple(nodes), tuple(sorted(ways, key=lambda way: (way.of, way.to))))


def _is_index(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch("[0-9]{1,4}", text) is not None


def facts(parsed: ImexStatus) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {
        "daemon": parsed.daemon or None,
        "domain": parsed.domain or None,
        "nodes": [asdict(node) for node in parsed.nodes],
        "connected": len(parsed.connections) - len(parsed.apart),
        "not_connected": [{"from": way.of, "to": way.to, "state": way.state} for way in parsed.apart],
        "unread": parsed.unread,
    }
    if parsed.cut:
        found["cut"] = True
    return found


def wrong(parsed: ImexStatus) -> tuple[str, ...]:
    """A domain that is not UP, nodes and a daemon that are not READY, and ready nodes without a connection."""
    found: list[str] = []
    if parsed.domain and parsed.domain != UP:
        found.append(f"the IMEX domain is {parsed.domain}")
    if parsed.daemon and parsed.daemon != READY:
        found.append(f"the IMEX daemon is {parsed.daemon}")
    states: dict[str, list[str]] = {}
    for node in parsed.nodes:
        states.setdefault(node.state, []).append(f"{node.index} ({node.hostname or node.host})")
    for state, nodes in sorted(states.items(), key=lambda item: -len(item[1])):
        if state != READY:
            found.append(f"{len(nodes)} of {len(parsed.nodes)} IMEX nodes {_are(nodes)} {state}: {few(nodes, 4)}")
    ready = {node.index for node in parsed.nodes if node.state == READY}
    apart: dict[str, list[str]] = {}
    for way in parsed.apart:
        if not parsed.nodes or {way.of, way.to} <= ready:
            apart.setdefault(way.state, []).append(f"{way.of} to {way.to}")
    for state, ways in apart.items():
        found.append(f"IMEX nodes have no connection ({state}): {few(ways, 4)}")
    return tuple(found)


def _are(nodes: list[str]) -> str:
    return "is" if len(nodes) == 1 else "are"
