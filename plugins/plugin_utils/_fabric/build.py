# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the tools said to the model of one fabric. Linear in the number of ports."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.fabric import Answer
from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import (
    CA,
    SWITCH,
    Ibnetdiscover,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.iblinkinfo import (
    Iblinkinfo,
    Port,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import levels
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    HEIGHT,
    Cable,
    End,
    Fabric,
    Hca,
    Inventory,
    Node,
    guid,
)


def build(name: str, asked: str, found: Ibnetdiscover, inventory: Inventory) -> Fabric:
    """The fabric of one discovery, without what iblinkinfo says."""
    ports = _ports(found)
    hcas = _hcas(found, ports, inventory)
    claims = {
        End(node.guid, link.port): (End(link.peer, link.peer_port), link.width, link.speed)
        for node in found.nodes
        for link in node.links
    }
    level = levels.of(found.nodes, {end.guid for end in hcas})
    nodes = {
        node.guid: Node(node.guid, node.type, node.name, level.get(node.guid, ""))
        for node in found.nodes
    }
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
    )


def with_lines(fabric: Fabric, listed: Iblinkinfo | None) -> Fabric:
    """The same with what iblinkinfo says of every port."""
    if listed is None:
        return fabric
    lines: dict[End, Port] = {}
    for one in listed.ports:
        node = fabric.ports.get(guid(one.guid), guid(one.guid))
        lines[End(node, one.port)] = one
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
    told = reading.value
    missing = unlisted(fabric)
    if told is None or told.facts is None or told.incomplete or not missing:
        return reading
    why = f"{missing} ports with a cable are not in it: the output may be cut"
    return Reading(replace(told, incomplete=why))


def _ports(found: Ibnetdiscover) -> dict[str, str]:
    """Node by port GUID; a switch's ports share the GUID of the node."""
    ports = {node.guid: node.guid for node in found.nodes if node.type != CA}
    for node in found.nodes:
        if node.type == CA:
            ports.update({link.port_guid: node.guid for link in node.links if link.port_guid})
    return ports


def _hcas(found: Ibnetdiscover, ports: dict[str, str], inventory: Inventory) -> dict[End, Hca]:
    """The rails by their end: by port GUID, or by node GUID and the number in the port's name.

    The other port of an adapter is no proof that this one is there.
    """
    numbers = {
        link.port_guid: link.port for node in found.nodes for link in node.links if link.port_guid
    }
    linked = {
        End(node.guid, link.port) for node in found.nodes if node.type == CA for link in node.links
    }
    placed: dict[End, Hca] = {}
    for hca in inventory.rails:
        named = End(hca.node_guid, int(hca.name.rpartition("/")[2]))
        if hca.port_guid in numbers:
            placed[End(ports[hca.port_guid], numbers[hca.port_guid])] = hca
        elif named in linked:
            placed[named] = hca
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
