# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what ibsim's console prints for ``Dump``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NODE = re.compile(
    r'^(?P<type>\w+) (?P<ports>\d+) "(?P<id>[^"]+)"\t'
    r"nodeguid (?P<guid>[0-9a-f]+)\tsysimgguid (?P<system>[0-9a-f]+)$"
)
_PORT = re.compile(
    r'^(?P<guid>[0-9a-f]+)\t\[(?P<num>\d+)\]\t(?:"(?P<peer>[^"]*)"\[(?P<peer_port>\d+)\])?\s+'
    r"(?:lid (?P<lid>\d+) lmc (?P<lmc>\d+) smlid (?P<smlid>\d+)\s+)?"
    r"(?P<width>\d+)x\s+(?P<lane>[\d.]+)G\s+(?P<state>\w+)/(?P<physical>\w+)"
)
_END = re.compile(r"^#\s+dumped (?P<nodes>\d+) nodes$")


class DumpError(ValueError):
    """The text is not one whole Dump."""


@dataclass(frozen=True)
class Port:
    """One port; ``lane_gbps`` is the speed of a single lane, ``lid`` 0 where it has none."""

    num: int
    guid: int
    lid: int
    lmc: int
    sm_lid: int
    width: int
    lane_gbps: float
    state: str
    physical: str


@dataclass(frozen=True)
class Node:
    """A switch or an HCA with its ports by number."""

    id: str
    type: str
    guid: int
    system_guid: int
    ports: tuple[Port, ...]

    def port(self, num: int) -> Port:
        """Return the port with this number, or raise DumpError."""
        for port in self.ports:
            if port.num == num:
                return port
        raise DumpError(f"{self.id} has no port {num}")


def parse(text: str) -> dict[str, Node]:
    """Return the nodes by ibsim's id; raise DumpError when the text is cut or not understood."""
    nodes: dict[str, Node] = {}
    ports: dict[str, tuple[Port, ...]] = {}
    current = ""
    for line in text.splitlines():
        head = _NODE.match(line)
        if head:
            current = head["id"]
            ports[current] = ()
            nodes[current] = Node(current, head["type"], int(head["guid"], 16), int(head["system"], 16), ())
            continue
        body = _PORT.match(line)
        if body:
            if not current:
                raise DumpError(f"a port before any node: {line!r}")
            ports[current] += (_port(body),)
            continue
        end = _END.match(line)
        if end:
            if int(end["nodes"]) != len(nodes):
                raise DumpError(f"says {end['nodes']} nodes, shows {len(nodes)}")
            return {
                name: Node(node.id, node.type, node.guid, node.system_guid, ports[name]) for name, node in nodes.items()
            }
        if line.strip() and not line.lstrip().startswith(("#", "sim")):
            raise DumpError(f"not understood: {line!r}")
    raise DumpError(f"the end is missing after {len(nodes)} nodes")


def _port(match: re.Match[str]) -> Port:
    return Port(
        num=int(match["num"]),
        guid=int(match["guid"], 16),
        lid=int(match["lid"] or 0),
        lmc=int(match["lmc"] or 0),
        sm_lid=int(match["smlid"] or 0),
        width=int(match["width"]),
        lane_gbps=float(match["lane"]),
        state=match["state"],
        physical=match["physical"],
    )
