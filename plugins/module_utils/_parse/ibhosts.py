# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibhosts`` prints: every channel adapter that a discovery of the fabric found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, flat_lines
from ._fabric import NAME, PLAIN, Strange, errors_only, tool_errors

_TOOL = "ibhosts"
NOTHING: dict[str, Any] = {"n": 0, "hosts": []}
# ibnetdiscover -H prints the same line with device and vendor ids in it.
_START = re.compile(r"Ca ?: ?0x")
_HOST, _HOST_WRAPPED = (
    re.compile(
        r"Ca ?: ?(0x[0-9a-fA-F]{1,16}) ports ([0-9]{1,3}) "
        rf"(?:devid 0x[0-9a-fA-F]{{1,8}} vendid 0x[0-9a-fA-F]{{1,8}} )?{name}"
    )
    for name in (NAME, PLAIN)
)


@dataclass(frozen=True)
class Adapter:
    """One channel adapter: GUID as printed, number of ports, node description."""

    guid: str
    n_ports: int
    name: str


@dataclass(frozen=True)
class Ibhosts:
    """The adapters that were found; or none, and what the tool complained of."""

    hosts: tuple[Adapter, ...]
    error_lines: tuple[str, ...] = ()


def parse(text: str) -> Ibhosts:
    """Read the output of ``ibhosts``; raise ParseError where it gives neither host nor error."""
    lines = flat_lines(text)
    hosts: dict[str, Adapter] = {}
    strange = Strange()
    for line_no, line in enumerate(lines, 1):
        if _START.match(line):
            try:
                host = _host(line_no, line, lines)
            except ParseError as exc:
                strange.leave(exc)
                continue
            if hosts.setdefault(host.guid, host) != host:
                raise ParseError(_TOOL, line_no, line, "this GUID was already listed otherwise")
    left = strange.told(len(hosts))
    if not hosts:
        return Ibhosts((), errors_only(_TOOL, lines, "no 'Ca :' line"))
    return Ibhosts(tuple(hosts.values()), (*left, *tool_errors(lines, warnings=False)))


def facts(parsed: Ibhosts) -> dict[str, Any]:
    """The facts as JSON-ready values; ``error`` only where the tool could not look."""
    found: dict[str, Any] = {
        "n": len(parsed.hosts),
        "hosts": [{"guid": h.guid, "ports": h.n_ports, "name": h.name} for h in parsed.hosts],
        "error_lines": list(parsed.error_lines),
    }
    if not parsed.hosts:
        found["error"] = True
    return found


def _host(line_no: int, line: str, lines: list[str]) -> Adapter:
    # A mail client may have wrapped the line once.
    match = _HOST.match(line) or _HOST_WRAPPED.match(" ".join([line, *lines[line_no : line_no + 1]]))
    if match is None:
        raise ParseError(_TOOL, line_no, line, "not 'Ca : 0xGUID ports N \"NAME\"'")
    return Adapter(match.group(1), int(match.group(2)), match.group(3).strip())
