# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric as data: switches, HCAs and cables, and the file in which ibsim reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CA = "Hca"
SWITCH = "Switch"
# Locally administered, so they are nobody's real ones.
_CA_GUIDS = 0x0200_0100_0000_0000
_SWITCH_GUIDS = 0x0200_0200_0000_0000
# ibsim numbers an HCA's ports after its node.
_GUID_STEP = 0x10


@dataclass(frozen=True)
class Node:
    """A switch or an HCA; `id` is ibsim's, `name` the node description; `host` "" on switches."""

    id: str
    kind: str
    ports: int
    guid: int
    name: str
    host: str = ""
    device: str = ""


@dataclass(frozen=True)
class End:
    """One end of a cable: ibsim's id of a node, and its port."""

    node: str
    port: int

    def __str__(self) -> str:
        return f'"{self.node}"[{self.port}]'


@dataclass(frozen=True)
class Cable:
    """A cable and what it trained to."""

    a: End
    b: End
    width: int = 4
    speed: str = "NDR"

    @property
    def link(self) -> str:
        return f"{self.width}x{self.speed}"

    def ends_at(self, node: str) -> bool:
        return node in (self.a.node, self.b.node)

    def other(self, node: str) -> End:
        """Return the end that is not at this node."""
        return self.b if self.a.node == node else self.a


@dataclass(frozen=True)
class Topology:
    """A whole fabric; `sms` are ibsim's ids of the HCAs whose hosts run a subnet manager."""

    name: str
    nodes: tuple[Node, ...]
    cables: tuple[Cable, ...]
    sms: tuple[str, ...]

    def node(self, name: str) -> Node:
        """Return the node of a description; KeyError where there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def hca(self, host: str, rail: int) -> Node:
        """Return the HCA of a host by its number; KeyError where there is none."""
        return self.node(f"{host} mlx5_{rail}")

    def cables_of(self, node: Node) -> tuple[Cable, ...]:
        return tuple(cable for cable in self.cables if cable.ends_at(node.id))

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.host for node in self.nodes if node.host))


class Builder:
    """Hands out GUIDs and ports while a topology is put together."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: dict[str, Node] = {}
        self._cables: list[Cable] = []
        self._used: dict[str, int] = {}
        self._sms: list[str] = []

    def switch(self, name: str, ports: int) -> str:
        """Add a managed switch; return its id."""
        guid = _SWITCH_GUIDS + _GUID_STEP * (len(self._nodes) + 1)
        return self._add(Node(f"S-{name}", SWITCH, ports, guid, f"MF0;{name}:MQM9700/U1"))

    def hca(self, host: str, rail: int, leaf: str) -> str:
        """Add an HCA with one port and plug it into the next free port of a leaf."""
        guid = _CA_GUIDS + _GUID_STEP * (len(self._nodes) + 1)
        device = f"mlx5_{rail}"
        node = Node(f"H-{host}-{rail}", CA, 1, guid, f"{host} {device}", host, device)
        self._add(node)
        self.plug(leaf, node.id)
        return node.id

    def sm(self, host: str, leaf: str) -> None:
        """Add a host with one HCA that runs a subnet manager."""
        self._sms.append(self.hca(host, 0, leaf))

    def aggregation(self, leaf: str, port: int) -> None:
        """Add what a switch with SHARP shows on a port of its own: an HCA inside the switch."""
        guid = _CA_GUIDS + _GUID_STEP * (len(self._nodes) + 1)
        name = "Mellanox Technologies Aggregation Node"
        node = self._add(Node(f"A-{leaf}", CA, 1, guid, name))
        self._cables.append(Cable(End(leaf, port), End(node, 1)))

    def plug(self, text: str, other: str, count: int = 1) -> None:
        """Lay cables between the next free ports of two nodes."""
        for _ in range(count):
            self._cables.append(Cable(self._free(text), self._free(other)))

    def build(self) -> Topology:
        return Topology(self._name, tuple(self._nodes.values()), tuple(self._cables), tuple(self._sms))

    def _add(self, node: Node) -> str:
        if node.id in self._nodes:
            raise ValueError(f"{node.id} is there already")
        self._nodes[node.id] = node
        return node.id

    def _free(self, node: str) -> End:
        self._used[node] = self._used.get(node, 0) + 1
        if self._used[node] > self._nodes[node].ports:
            raise ValueError(f"{node} has no port {self._used[node]}")
        return End(node, self._used[node])


def netfile(topology: Topology) -> str:
    """Return the fabric in ibnetdiscover format, as ibsim reads it."""
    names = {node.id: node.name for node in topology.nodes}
    plugs: dict[str, list[tuple[int, End, Cable]]] = {node.id: [] for node in topology.nodes}
    for cable in topology.cables:
        plugs[cable.a.node].append((cable.a.port, cable.b, cable))
        plugs[cable.b.node].append((cable.b.port, cable.a, cable))
    lines: list[str] = []
    for node in topology.nodes:
        lines += _head(node)
        for port, peer, cable in sorted(plugs[node.id], key=lambda plug: plug[0]):
            lid = "lid 0" if node.kind == SWITCH else "lid 0 lmc 0"
            lines.append(f'[{port}]\t{peer}\t\t# {lid} "{names[peer.node]}" lid 0 {cable.link}')
        lines.append("")
    return "\n".join(lines) + "\n"


def _head(node: Node) -> Iterator[str]:
    if node.kind == SWITCH:
        yield f"switchguid=0x{node.guid:x}"
        yield f'Switch\t{node.ports} "{node.id}"\t\t# "{node.name}" enhanced port 0 lid 0 lmc 0'
    else:
        yield f"caguid=0x{node.guid:x}"
        yield f'Hca\t{node.ports} "{node.id}"\t\t# "{node.name}"'


def members(topology: Topology) -> dict[str, dict[str, dict[str, str]]]:
    """Say who belongs to the fabric: host -> device/port -> node_guid and port_guid."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for node in topology.nodes:
        if node.host:
            found.setdefault(node.host, {})[f"{node.device}/1"] = {
                "node_guid": f"0x{node.guid:016x}",
                "port_guid": f"0x{node.guid + 1:016x}",
            }
    return found
