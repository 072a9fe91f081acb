# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``ibportstate LID PORT`` prints: a port, and the port at the other end of its link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import complaints, flat_lines, is_warning, no_facts
from . import _smp

_TOOL = "ibportstate"
NOTHING: dict[str, Any] = {"ports": [], "error_lines": [], "unread": 0, "cut": False}

_TITLE = re.compile(
    r"(?:(Initial) )?(?:(CA|Switch|CA/RT|Peer) )?PortInfo:|(After) (?:PortInfo|MLNXExtendedPortInfo) set:"
)
_MORE = ("Port is already in enable state", "Disable may be irreversible")
_SLOWER = re.compile(r"ibwarn: .{0,80}(Peer ports operating at active .{1,80})")
# The last line that every release prints of a port.
_LAST = "LinkSpeedActive"


@dataclass(frozen=True)
class Port:
    """One port. ``which``: ``port``, ``peer``, or ``initial`` and ``after`` around a change that the tool made.

    ``kind``: CA, Switch or CA/RT; "" for a peer and in the releases that do not tell.
    """

    which: str
    kind: str
    block: _smp.Block
    fdr10: _smp.Block | None = None

    @property
    def link(self) -> _smp.Link:
        """Its widths and speeds."""
        return _smp.link(self.block, self.fdr10)


@dataclass(frozen=True)
class Ibportstate:
    """Every port in the order of the text; a peer belongs to the port before it."""

    ports: tuple[Port, ...]
    error_lines: tuple[str, ...] = ()
    unread: int = 0
    cut: bool = False


class _Reading:
    """The titles, each with the blocks below it."""

    def __init__(self) -> None:
        self.ours = False
        self.titles: list[tuple[str, str]] = []
        self.blocks: list[list[_smp.Opened]] = []
        self.unread = 0

    def line(self, line_no: int, line: str) -> None:
        title = _TITLE.fullmatch(line)
        if title is not None:
            self._title(*_named(title))
            self.ours = True
            return
        header = _smp.opened(line)
        if header is not None and header.kind in (_smp.PORT, _smp.FDR10):
            if not self.titles:
                # The beginning is missing; whether it is this tool's the other titles tell.
                self._title("port", "")
            self.blocks[-1].append(header)
            return
        if self.blocks and not self.blocks[-1]:
            self.blocks[-1] += filter(None, [_smp.headless(line)])
        if not (self.blocks and self.blocks[-1] and self.blocks[-1][-1].take(_TOOL, line_no, line)):
            self.unread += not (line in _MORE or is_warning(line) or "iberror:" in line)

    def _title(self, which: str, kind: str) -> None:
        self.titles.append((which, kind))
        self.blocks.append([])


def parse(text: str) -> Ibportstate:
    """Read every port; raise ParseError where there is none."""
    lines = flat_lines(text)
    reading = _Reading()
    for line_no, line in enumerate(lines, 1):
        if line:
            reading.line(line_no, line)
    ports: list[Port] = []
    for (which, kind), blocks in zip(reading.titles, reading.blocks):
        told = [block.closed() for block in blocks if block.values]
        main = next((block for block in told if block.kind == _smp.PORT), None)
        if main is not None:
            ports.append(Port(which, kind, main, next((block for block in told if block.kind == _smp.FDR10), None)))
    errors = complaints(lines, warnings=not ports)
    if not ports or not reading.ours:
        raise no_facts(_TOOL, lines, "no port below a line 'PortInfo:'", "empty output: no port answered", errors)
    # The tool ends with its error where a port does not answer, and then nothing is missing.
    last = reading.blocks[-1]
    whole = bool(last) and _LAST in last[0].values
    slow = tuple(found.group(1) for found in map(_SLOWER.fullmatch, lines) if found is not None)
    return Ibportstate(tuple(ports), (*errors, *slow), reading.unread, not whole and not errors)


def facts(parsed: Ibportstate) -> dict[str, Any]:
    """As docs/parsers.md has it."""
    return {
        "ports": [_facts(port) for port in parsed.ports],
        "error_lines": list(parsed.error_lines),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: Ibportstate) -> tuple[str, ...]:
    """What by this text alone is wrong, worst first."""
    states: list[str] = []
    links: list[str] = []
    for at, port in enumerate(parsed.ports):
        if port.which != "initial":
            states += _smp.state_wrong(port.block)
        if port.which == "peer" and at and parsed.ports[at - 1].which == "port":
            here = parsed.ports[at - 1]
            if here.block.values.get("LinkState") == "Active":
                links += _smp.slower(here.block.label, here.link, port.link)
    said = [] if links else [line for line in parsed.error_lines if line.startswith("Peer ports operating")]
    return tuple(dict.fromkeys([*states, *links, *said]))


def _named(title: re.Match[str]) -> tuple[str, str]:
    initial, kind, after = title.groups()
    if after:
        return "after", ""
    if kind == "Peer":
        return "peer", ""
    return "initial" if initial else "port", kind or ""


def _facts(port: Port) -> dict[str, Any]:
    block = port.block
    return {
        "which": port.which,
        "kind": port.kind,
        "target": block.target,
        "port": block.port,
        "state": block.values.get("LinkState", ""),
        "phys_state": block.values.get("PhysLinkState", ""),
        "lid": block.number("Lid"),
        "sm_lid": block.number("SMLid"),
        **port.link.facts(),
    }
