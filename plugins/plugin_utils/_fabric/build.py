# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the tools said to the model of one fabric. Linear in the number of ports."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace

from ...module_utils._areas.fabric.facts import Answer
from ...module_utils._fleet.fleet_names import short
from ...module_utils._ground.reading import Reading
from ...module_utils._parse import _topology
from ...module_utils._parse._topology import CA, SWITCH, Ibnetdiscover
from ...module_utils._parse.iblinkinfo import Iblinkinfo, Port
from .model import CORE, HEIGHT, LEAF, SPINE, Cable, End, Fabric, Hca, Inventory, Node, guid

# A spine may have some hosts, such as those of the subnet managers: at most a fourth of what the
# smallest switch below it has.
_FEW = 4


def build(name: str, asked: str, found: Ibnetdiscover, inventory: Inventory) -> Fabric:
    """The fabric of one discovery, without what iblinkinfo says."""
    ports = _ports(found)
    placed = _hcas(found, ports, inventory)
    hcas = {end: mine[0] for end, mine in placed.items()}
    claims = {
        End(node.guid, link.port): (End(link.peer, link.peer_port), link.width, link.speed)
        for node in found.nodes
        for link in node.links
    }
    level = _levels(found.nodes, {end.guid for end in hcas})
    nodes = {node.guid: Node(node.guid, node.type, node.name, level.get(node.guid, "")) for node in found.nodes}
    far = {here: there for here, (there, _width, _speed) in claims.items()}
    cables = []
    for here, (there, width, speed) in claims.items():
        if far.get(there) == here and _order(nodes, here) < _order(nodes, there):
            cables.append(Cable(here, there, width, speed))
    return Fabric(
        name,
        asked,
        nodes,
        tuple(cables),
        {here: there for here, there in far.items() if far.get(there) == here},
        _twice(far),
        {},
        hcas,
        ports,
        frozenset(hca for mine in placed.values() for hca in mine[1:]),
    )


def with_lines(fabric: Fabric, listed: Iblinkinfo | None) -> Fabric:
    """The same with what iblinkinfo says of every port."""
    if listed is None:
        return fabric
    lines: dict[End, Port] = {}
    for port in listed.ports:
        node = fabric.ports.get(guid(port.guid), guid(port.guid))
        lines[End(node, port.port)] = port
    return replace(fabric, lines=lines)


def lone(found: Ibnetdiscover, fabric: Fabric) -> int:
    """How many links are listed from one end only, and from no second port: the text was cut."""
    claimed = {end for ends in fabric.twice.values() for end in ends}
    ends = (End(node.guid, link.port) for node in found.nodes for link in node.links)
    return sum(end not in fabric.far and end not in claimed for end in ends)


def unlisted(fabric: Fabric) -> int:
    """How many ends of cables iblinkinfo does not know, though the discovery does."""
    return sum(end not in fabric.lines for cable in fabric.cables for end in (cable.a, cable.b))


def cut_links(reading: Reading[Answer[Iblinkinfo]], fabric: Fabric) -> Reading[Answer[Iblinkinfo]]:
    """The same reading, marked as incomplete where it is."""
    reported = reading.value
    missing = unlisted(fabric)
    if reported is None or reported.facts is None or reported.incomplete or not missing:
        return reading
    return Reading(replace(reported, incomplete=f"{missing} ports with a cable are not in it: the output may be cut"))


def _ports(found: Ibnetdiscover) -> dict[str, str]:
    """Node by port GUID; a switch's ports share the GUID of the node."""
    ports = {node.guid: node.guid for node in found.nodes if node.type != CA}
    for node in found.nodes:
        if node.type == CA:
            ports.update({link.port_guid: node.guid for link in node.links if link.port_guid})
    return ports


def _hcas(found: Ibnetdiscover, ports: dict[str, str], inventory: Inventory) -> dict[End, list[Hca]]:
    """The rails by their end: by port GUID, or by node GUID and the number in the port's name.

    The other port of an adapter is no proof that this one is there. Of several that say one end is theirs the one that
    the adapter is called after comes first.
    """
    numbers = {link.port_guid: link.port for node in found.nodes for link in node.links if link.port_guid}
    linked = {End(node.guid, link.port) for node in found.nodes if node.type == CA for link in node.links}
    placed: dict[End, list[Hca]] = {}
    for hca in inventory.rails:
        named = End(hca.node_guid, int(hca.name.rpartition("/")[2]))
        if hca.port_guid in numbers:
            placed.setdefault(End(ports[hca.port_guid], numbers[hca.port_guid]), []).append(hca)
        elif named in linked:
            placed.setdefault(named, []).append(hca)
    several = {end.guid for end, hcas in placed.items() if len(hcas) > 1}
    names = {node.guid: short(node.name.partition(" ")[0]) for node in found.nodes if node.guid in several}
    for end, hcas in placed.items():
        if len(hcas) > 1:
            hcas.sort(key=lambda hca: short(hca.host) != names[end.guid])
    return placed


def _order(nodes: dict[str, Node], end: End) -> tuple[int, End]:
    node = nodes.get(end.guid)
    height = 9 if node is None else 0 if node.type != SWITCH else HEIGHT[node.level]
    return height, end


def _twice(far: dict[End, End]) -> dict[End, tuple[End, ...]]:
    """Far ends that more than one port leads to: two devices with one GUID."""
    heads: dict[End, list[End]] = {}
    for here, there in far.items():
        heads.setdefault(there, []).append(here)
    return {there: tuple(sorted(ends)) for there, ends in heads.items() if len(ends) > 1}


def _levels(nodes: Iterable[_topology.Node], hcas: Set[str]) -> dict[str, str]:
    """The level of every switch. ``hcas``: node GUIDs of the inventory's HCAs.

    A switch with such an HCA is a leaf, and one with other adapters alone, unless its neighbours
    have so many more that it is a spine with a few guests. Spines are beside leaves, the rest core.
    """
    found = [node for node in nodes if node.type == SWITCH]
    peers = {node.guid: {link.peer for link in node.links if link.peer_type == SWITCH} - {node.guid} for node in found}
    ours = {node.guid: sum(link.peer in hcas for link in node.links) for node in found}
    adapters = {node.guid: sum(link.peer_type != SWITCH for link in node.links) for node in found}
    leaves = {node.guid for node in found if adapters[node.guid]}
    guests = {leaf for leaf in leaves if _is_spine(adapters, ours, peers[leaf], leaf)}
    leaves -= guests
    return {node.guid: LEAF if node.guid in leaves else SPINE if peers[node.guid] & leaves else CORE for node in found}


def _is_spine(adapters: dict[str, int], ours: dict[str, int], peers: Set[str], switch: str) -> bool:
    others = [adapters.get(peer, 0) for peer in peers]
    if not others:
        return False
    if not ours[switch] and all(ours.get(peer, 0) for peer in peers):
        return True
    return min(others) >= _FEW * adapters[switch]
