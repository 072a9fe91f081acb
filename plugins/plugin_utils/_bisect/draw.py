# SPDX-License-Identifier: GPL-3.0-or-later
"""The net of flows from what is known: fabrics with their forwarding tables, fabrics alone, or hosts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from .._fabric.model import End, Fabric
from .net import Cable, Net, Port, Switch

# Where a width or speed is not told.
_GBPS = 100.0
Tables = Mapping[str, Mapping[int, int]]


def of_fabrics(
    fabrics: Sequence[Fabric],
    tables: Tables | None = None,
    lids: Mapping[str, int] | None = None,
    only: Mapping[tuple[str, str], float] | None = None,
) -> Net:
    """Rails whose cable leads to a switch. ``tables``: by switch GUID, from LID to the port out.

    ``lids``: by port GUID. Without tables, or without LIDs, ways between switches are not known. ``only``: by host
    and port those that take part, and what each carries in Gb/s.
    """
    ports: list[Port] = []
    switches: list[Switch] = []
    cables: list[Cable] = []
    guids: list[str] = []
    port_guids: list[str] = []
    ends: list[tuple[End, End]] = []
    for number, fabric in enumerate(_with_names(fabrics)):
        place = {}
        for node in fabric.nodes.values():
            if node.level:
                place[node.guid] = len(switches)
                switches.append(Switch(node.name or f"0x{node.guid:0>16}", node.level))
                guids.append(node.guid)
        rates = {end: cable.gbps or _GBPS for cable in fabric.cables for end in (cable.a, cable.b)}
        for end, hca in sorted(fabric.hcas.items(), key=lambda item: (item[1].host, item[1].rail, item[0])):
            far = fabric.far.get(end)
            if far is not None and far.guid in place and (only is None or (hca.host, hca.name) in only):
                name = fabric.end_name(far)
                gbps = only[hca.host, hca.name] if only is not None else rates.get(end, _GBPS)
                ports.append(Port(hca.host, hca.name, place[far.guid], gbps, number, name))
                port_guids.append(hca.port_guid)
        for cable in fabric.cables:
            if cable.a.guid in place and cable.b.guid in place:
                low, high = place[cable.a.guid], place[cable.b.guid]
                cables.append(Cable(low, high, fabric.cable_name(cable), cable.gbps or _GBPS))
                ends.append((cable.a, cable.b))
    hop = _hop(tables, [(lids or {}).get(one, -1) for one in port_guids], guids, _links(ends, 2 * len(ports)))
    return Net(ports, switches, cables, hop if tables and lids else None)


def _with_names(fabrics: Sequence[Fabric]) -> list[Fabric]:
    """The same; a name that several switches have, as those that nobody named, is told with the GUID."""
    count = Counter(node.name for fabric in fabrics for node in fabric.nodes.values() if node.level)
    found = []
    for fabric in fabrics:
        nodes = {
            guid: replace(node, name=f"{node.name} (0x{guid:0>16})") if node.level and count[node.name] > 1 else node
            for guid, node in fabric.nodes.items()
        }
        found.append(replace(fabric, nodes=nodes))
    return found


def of_hosts(rails: Mapping[str, Mapping[str, float]], apart: bool = False) -> Net:
    """Hosts of which nobody knows the switches: Gb/s by port's name, by host.

    ``apart``: only ports of one name are sure to reach each other.
    """
    names = sorted({name for mine in rails.values() for name in mine})
    nets = {name: number if apart else 0 for number, name in enumerate(names)}
    ports = [Port(host, name, -1, gbps, nets[name]) for host, mine in rails.items() for name, gbps in mine.items()]
    return Net(ports, across=True)


def _links(ends: Sequence[tuple[End, End]], first: int) -> dict[End, int]:
    """The link that leaves a switch by a port."""
    found = {}
    for number, (low, high) in enumerate(ends):
        found[low] = first + 2 * number
        found[high] = first + 2 * number + 1
    return found


def _hop(
    tables: Tables | None, lids: Sequence[int], guids: Sequence[str], links: Mapping[End, int]
) -> Callable[[int, int], int]:
    """From switch and port, by number, to the link out."""
    out = [
        {lid: links[End(guid, port)] for lid, port in (tables or {}).get(guid, {}).items() if End(guid, port) in links}
        for guid in guids
    ]

    def hop(switch: int, target: int) -> int:
        return out[switch].get(lids[target], -1)

    return hop
