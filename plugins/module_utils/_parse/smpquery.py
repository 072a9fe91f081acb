# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``smpquery portinfo``, ``nodeinfo``, ``nodedesc`` and ``switchinfo`` print."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import complaints, flat_lines, is_warning, no_facts
from . import _smp

_TOOL = "smpquery"
NOTHING: dict[str, Any] = {"blocks": [], "node_descriptions": [], "error_lines": [], "unread": 0, "cut": False}

_DESCRIPTION = re.compile(r"Node Description:\.{1,40}([^.].{0,200})")
# ibportstate writes such a line above each port.
_OTHER = re.compile(r"(?:Initial )?(?:(?:CA|Switch|CA/RT|Peer) )?PortInfo:|After PortInfo set:")
# What every release prints near the end of its answer.
_LATE = {_smp.PORT: "OverrunErr", "Node info": "VendorId", "Switch info": "EnhancedPort0"}


@dataclass(frozen=True)
class Smpquery:
    """Every answer in the order of the text, and every node's description."""

    blocks: tuple[_smp.Block, ...]
    descriptions: tuple[str, ...] = ()
    error_lines: tuple[str, ...] = ()
    unread: int = 0
    cut: bool = False


def parse(text: str) -> Smpquery:
    """Read every answer; raise ParseError where there is none."""
    lines = flat_lines(text)
    blocks: list[_smp.Opened] = []
    descriptions: list[str] = []
    unread = 0
    inside = other = False
    for line_no, line in enumerate(lines, 1):
        header, description = _smp.opened(line), _DESCRIPTION.fullmatch(line)
        if header is None and not inside and not other:
            header = _smp.headless(line)
            if header is not None:
                header.take(_TOOL, line_no, line)
        if header is not None:
            blocks.append(header)
            inside, other = True, False
        elif description is not None:
            descriptions.append(description.group(1))
        elif _OTHER.fullmatch(line):
            raise no_facts(_TOOL, lines, "the ports are ibportstate's")
        elif line.startswith("# "):
            # Another tool's answer, or one of this tool's that is not read.
            inside, other = False, True
            unread += 1
        elif line and not (inside and blocks[-1].take(_TOOL, line_no, line)):
            unread += not (is_warning(line) or "iberror:" in line)
    found = tuple(block.closed() for block in blocks if block.values)
    errors = complaints(lines, warnings=not found and not descriptions)
    if not found and not descriptions:
        raise no_facts(_TOOL, lines, "no answer below '# Port info: ...' or the like", said=errors)
    cut = bool(blocks) and not errors and _LATE.get(blocks[-1].kind, "") not in (*blocks[-1].values, "")
    return Smpquery(found, tuple(descriptions), errors, unread, cut)


def facts(parsed: Smpquery) -> dict[str, Any]:
    """As docs/parsers.md has it; ``values`` has every value as it was printed."""
    return {
        "blocks": [_facts(block) for block in parsed.blocks],
        "node_descriptions": list(parsed.descriptions),
        "error_lines": list(parsed.error_lines),
        "unread": parsed.unread,
        "cut": parsed.cut,
    }


def wrong(parsed: Smpquery) -> tuple[str, ...]:
    """What by this text alone is wrong, worst first."""
    ports = [block for block in parsed.blocks if block.kind == _smp.PORT]
    return tuple(dict.fromkeys(sentence for block in ports for sentence in _smp.state_wrong(block)))


def _facts(block: _smp.Block) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": block.kind, "target": block.target, "port": block.port}
    if block.kind == _smp.PORT:
        found.update(
            state=block.values.get("LinkState", ""),
            phys_state=block.values.get("PhysLinkState", ""),
            lid=block.number("Lid"),
            sm_lid=block.number("SMLid"),
            lmc=block.number("LMC"),
            mtu=block.number("NeighborMTU"),
            mtu_supported=block.number("MtuCap"),
            **_smp.link(block).facts(),
        )
    elif block.kind == "Node info":
        found.update(
            node_type=block.values.get("NodeType", ""),
            guid=block.values.get("Guid", ""),
            port_guid=block.values.get("PortGuid", ""),
            ports=block.number("NumPorts"),
            device_id=block.values.get("DevId", ""),
        )
    found.update(values=dict(block.values), capabilities=list(block.capabilities))
    return found
