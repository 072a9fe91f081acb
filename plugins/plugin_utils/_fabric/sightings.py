# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose GUIDs and LIDs are, as those saw it who looked at a fabric; no I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ...module_utils._fleet.claims import LID, NODE, PORT, Key, Sighting
from ...module_utils._fleet.fleet_names import owner
from ...module_utils._parse._topology import CA, Link, Node
from .check_guids import complained
from .read import Seen, duplicates

# A link ends at (node, port); two that end at one lead to two devices of one GUID.
_Ends = Counter[tuple[str, int]]


class Sightings:
    """By GUID or LID who saw what there. ``owners``: whose a name is by the inventory: an adapter is called after its
    host, and only that host calls it so.
    """

    def __init__(self, looks: Sequence[Seen], owners: Mapping[str, str]) -> None:
        self._looks = looks
        self._owners = owners

    def __call__(self, key: Key) -> Sequence[Sighting]:
        return self._found.get(key, ())

    @cached_property
    def _found(self) -> Mapping[Key, list[Sighting]]:
        # Made only where two claim one value: a large fabric has ten thousand adapters.
        found: dict[Key, list[Sighting]] = {}
        for look in self._looks:
            for key, sighting in self._of(look):
                found.setdefault(key, []).append(sighting)
        return found

    def _of(self, look: Seen) -> Iterator[tuple[Key, Sighting]]:
        facts = look.discovery.value.facts if look.discovery.value else None
        if facts is None:
            return
        manager = look.sm.value.facts if look.sm.value else None
        ends: _Ends = Counter((link.peer, link.peer_port) for node in facts.nodes for link in node.links)
        told = {*complained(duplicates(look.discovery.value))}
        lids = Counter(link.lid for node in facts.of(CA) for link in node.links)

        def seen(node: Node, beside: set[object], twice: bool) -> Sighting:
            return Sighting(look.host, owner(node.name.partition(" ")[0], self._owners), frozenset(beside), twice)

        def doubled(node: Node, link: Link) -> bool:
            return ends[node.guid, link.port] > 1 or bool(told & {node.guid, link.port_guid})

        for node in facts.of(CA):
            twice = [doubled(node, link) for link in node.links]
            yield (NODE, int(node.guid or "0", 16)), seen(node, {link.lid for link in node.links}, any(twice))
            for link, both in zip(node.links, twice, strict=True):
                if link.port_guid:
                    yield (PORT, int(link.port_guid, 16)), seen(node, {link.lid}, both)
                    if manager is not None and link.lid:
                        key = (LID, int(manager.guid, 16), link.lid)
                        yield key, seen(node, {int(link.port_guid, 16)}, lids[link.lid] > 1)
