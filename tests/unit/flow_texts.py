# SPDX-License-Identifier: GPL-3.0-or-later
"""The net of a real text of ibnetdiscover, with the tables that a subnet manager would fill in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibnetdiscover
from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import CA
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.draw import of_fabrics
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.net import Net
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.build import build
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import End, Fabric, Hca, Inventory

_AGGREGATION = "Mellanox Technologies Aggregation Node"


def fabric_of(path: Path) -> tuple[Fabric, dict[str, int]]:
    """The fabric of a text, and LID by port GUID. An adapter without a host's name is a host of its own."""
    found = ibnetdiscover.parse(path.read_text())
    rails = []
    lids = {}
    for node in found.nodes:
        if node.type == CA and node.name != _AGGREGATION:
            host, _space, device = node.name.partition(" ")
            if not device or " " in device:
                host, device = node.guid, "mlx5_0"
            for link in node.links:
                name = f"{device}/{link.port}"
                rails.append(Hca(host, name, node.guid, link.port_guid, len(rails)))
                lids[link.port_guid] = link.lid or len(rails)
    return build("text", "", found, Inventory(tuple(rails))), lids


def tables_of(fabric: Fabric, lids: Mapping[str, int]) -> dict[str, dict[int, int]]:
    """Shortest ways; of equal ones the port that has the fewest LIDs so far, as opensm's MinHop deals them out."""
    far = {end: there.guid for end, there in fabric.far.items()}
    out: dict[str, list[End]] = {}
    for end in fabric.far:
        out.setdefault(end.guid, []).append(end)
    switches = [node.guid for node in fabric.nodes.values() if node.level]
    load = dict.fromkeys(fabric.far, 0)
    tables: dict[str, dict[int, int]] = {guid: {} for guid in switches}
    places = sorted((lids[hca.port_guid], end) for end, hca in fabric.hcas.items() if end in fabric.far)
    for lid, end in places:
        last = fabric.far[end]
        tables.setdefault(last.guid, {})[lid] = last.port
        hops = {last.guid: 0}
        front = [last.guid]
        while front:
            beyond = []
            for guid in front:
                for one in out.get(guid, ()):
                    if far[one] in tables and far[one] not in hops:
                        hops[far[one]] = hops[guid] + 1
                        beyond.append(far[one])
            front = beyond
        for guid in hops.keys() - {last.guid}:
            near = [one for one in out[guid] if hops.get(far[one], len(hops)) == hops[guid] - 1]
            chosen = min(near, key=lambda one: (load[one], one.port))
            load[chosen] += 1
            tables[guid][lid] = chosen.port
    return tables


def net_of(path: Path) -> Net:
    fabric, lids = fabric_of(path)
    return of_fabrics([fabric], tables_of(fabric, lids), lids)
