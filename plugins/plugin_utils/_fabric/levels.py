# SPDX-License-Identifier: GPL-3.0-or-later
"""Which switch is a leaf, a spine or a core switch."""

from __future__ import annotations

from collections.abc import Iterable, Set

from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import (
    SWITCH,
    Node,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    CORE,
    LEAF,
    SPINE,
)

# A spine may have some hosts, such as those of the subnet managers: at most a fourth of what the
# smallest switch below it has.
_FEW = 4


def of(nodes: Iterable[Node], hcas: Set[str]) -> dict[str, str]:
    """The level of every switch. ``hcas``: node GUIDs of the inventory's HCAs.

    A switch with such an HCA is a leaf, and one with other adapters alone, unless its neighbours
    have so many more that it is a spine with a few guests. Spines are beside leaves, the rest core.
    """
    found = [node for node in nodes if node.type == SWITCH]
    peers = {
        node.guid: {link.peer for link in node.links if link.peer_type == SWITCH} - {node.guid}
        for node in found
    }
    ours = {node.guid: sum(link.peer in hcas for link in node.links) for node in found}
    adapters = {node.guid: sum(link.peer_type != SWITCH for link in node.links) for node in found}
    leaves = {node.guid for node in found if adapters[node.guid]}
    guests = {one for one in leaves if _is_spine(adapters, ours, peers[one], one)}
    leaves -= guests
    return {
        node.guid: LEAF if node.guid in leaves else SPINE if peers[node.guid] & leaves else CORE
        for node in found
    }


def _is_spine(adapters: dict[str, int], ours: dict[str, int], peers: Set[str], switch: str) -> bool:
    others = [adapters.get(one, 0) for one in peers]
    if not others:
        return False
    if not ours[switch] and all(ours.get(one, 0) for one in peers):
        return True
    return min(others) >= _FEW * adapters[switch]
