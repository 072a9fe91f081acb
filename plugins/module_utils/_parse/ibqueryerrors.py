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
}
# The line of all ports of a switch together.
ALL = "ALL"
_HEADER = re.compile(r'(?:Errors|Data Counters) for (?:(0x[0-9a-fA-F]{1,16}) )?"(.*)"')
_PORT = re.compile(r"GUID (0x[0-9a-fA-F]{1,16}) port ([0-9]{1,3}|ALL):")
# The second number is the first for people: 19.353K, 1.25MB.
_COUNTER = re.compile(r" ?\[ ?([A-Za-z0-9_]{1,60}) ?== ?([0-9]{1,20})( \([^()\[\]]*\))? ?\]")
_NODES = re.compile(r"([0-9]{1,10}) nodes checked, ([0-9]{1,10}) bad nodes found")
_PORTS = re.compile(r"([0-9]{1,10}) ports checked, ([0-9]{1,10}) ports have errors beyond")
_FAILURES = re.compile(r"([0-9]{1,10}) PMA query failures")
_MORE_LINES = 6
_OTHER_LINES = ("GUID ", "Errors for ", "Data Counters for ", "##", "Link info:")


@dataclass(frozen=True)
class Port:
    """The counters of one port above its threshold; ``port`` is its number or ALL.

    ``wide``: those of 64 bits, which are printed with their value for people behind them.
    """

    guid: str
    port: str
    counters: dict[str, int] = field(default_factory=dict)
    wide: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """One node with such ports; ``guid`` only where the header shows it (switches)."""

    guid: str
    name: str
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Ibqueryerrors:
    """The report. The counts are None where its summary is missing: the text may be cut."""

    nodes: tuple[Node, ...]
    nodes_checked: int | None = None
    bad_nodes: int | None = None
    ports_checked: int | None = None
    ports_with_errors: int | None = None
    query_failures: int = 0
    error_lines: tuple[str, ...] = ()


def parse(text: str) -> Ibqueryerrors:
    """Read the output of ``ibqueryerrors``; raise ParseError where it gives no fact, no error."""
    lines = flat_lines(text)
    blocks: list[tuple[str, str, list[Port]]] = []
    strange = Strange()
    for line_no, line in enumerate(lines, 1):
        if line.startswith(("Errors for ", "Data Counters for ")):
            try:
                blocks.append((*_header(line_no, line), []))
            except ParseError as exc:
                # Each port's line has the GUID, so that a node without its name is a node.
                strange.leave(exc)
                blocks.append(("", "", []))
        elif line.startswith("GUID "):
            try:
                port = _port(line_no, lines)
            except ParseError as exc:
                strange.leave(exc)
                continue
            if not blocks:
                raise ParseError(_TOOL, line_no, line, "belongs to no node: its line is missing")
            if port not in blocks[-1][2][-1:]:
                blocks[-1][2].append(port)
    summary = _summary(lines)
    left = strange.told(sum(1 + len(ports) for _guid, _name, ports in blocks))
    if not blocks and summary is None:
        return Ibqueryerrors((), error_lines=errors_only(_TOOL, lines, "no node and no summary"))
    nodes = tuple(Node(guid, name, tuple(ports)) for guid, name, ports in blocks)
    errors = (*left, *tool_errors(lines, warnings=False))
    return Ibqueryerrors(nodes, *(summary or (None, None, None, None, 0)), errors)


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
    }
    if not parsed.nodes and parsed.nodes_checked is None:
        found["error"] = True
    return found


def _header(line_no: int, line: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise ParseError(_TOOL, line_no, line, "not 'Errors for 0xGUID \"NAME\"'")
    return match.group(1) or "", match.group(2).strip()


def _port(line_no: int, lines: list[str]) -> Port:
    """A port's line, with the lines that it was wrapped into."""
    line = lines[line_no - 1]
    head = _PORT.match(line)
    if head is None:
        raise ParseError(_TOOL, line_no, line, "not 'GUID 0xGUID port N: [COUNTER == N]'")
    rest = line[head.end() :]
    for more in lines[line_no : line_no + _MORE_LINES]:
        if more.startswith(_OTHER_LINES):
            break
        if more.startswith("[") or (more and not is_warning(more) and not rest.endswith("]")):
            rest = f"{rest} {more}"
    counters: dict[str, int] = {}
    wide = []
    place = 0
    while place < len(rest):
        match = _COUNTER.match(rest, place)
        if match is None:
            raise ParseError(_TOOL, line_no, line, f"not '[COUNTER == N]' from {rest[place : place + 40]!r} on")
        counters[match.group(1)] = int(match.group(2))
        if match.group(3):
            wide.append(match.group(1))
        place = match.end()
    if not counters:
        raise ParseError(_TOOL, line_no, line, "no counter behind the port")
    return Port(head.group(1), head.group(2), counters, tuple(wide))


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
