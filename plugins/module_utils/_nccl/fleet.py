# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be the same on every node of a RoCE fabric: which address NCCL takes; no I/O."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Iterable, Mapping, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import ROCE_V2, GidEntry
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import (
    NcclHost,
    NcclPort,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gid import (
    IPV4,
    IPV6,
    LINK_LOCAL,
    ROUTABLE,
)

ETHERNET = "Ethernet"
_SHOWN = 4
Gids = Tuple[GidEntry, ...]


@dataclass(frozen=True)
class NodeGids:
    """The addresses of one node's RoCE rails. ``selects``: the families (IPv4, IPv6) in which NCCL
    finds a good one on each rail by itself. ``indexes``: by family, where each rail has one.
    ``unknown``: why nothing is known."""

    selects: tuple[str, ...] = ()
    indexes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    unknown: str = ""


@dataclass(frozen=True)
class Shared:
    """What some nodes have in common.

    ``unknown``: why one of them cannot be told, "" if all can. ``selects`` (of those that can) and
    ``indexes``: as of NodeGids. ``without``: the first node, by family, that does not select it.
    ``shown``: where the last few have addresses, for people, the last one first.
    """

    unknown: str = ""
    selects: frozenset[str] = frozenset(ROUTABLE)
    indexes: dict[str, frozenset[int]] | None = None
    without: dict[str, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()

    def and_(self, name: str, node: NodeGids) -> Shared:
        """The same with one node more."""
        selects, without = self.selects, self.without
        if not node.unknown:
            lacks = [one for one in ROUTABLE if one not in node.selects]
            selects = selects.difference(lacks)
            without = {**{one: name for one in lacks}, **without}
        mine = {one: frozenset(node.indexes.get(one, ())) for one in ROUTABLE}
        if self.indexes is not None:
            mine = {one: mine[one] & self.indexes[one] for one in ROUTABLE}
        shown = (f"{name} at {places(node)}", *self.shown[: _SHOWN - 1])
        unknown = self.unknown or (f"{name}: {node.unknown}" if node.unknown else "")
        return Shared(unknown, selects, mine, without, shown)


@dataclass(frozen=True)
class FleetView:
    """Every node with RoCE rails, by name. ``absent``: nodes that nobody could look at, which may
    have some as well."""

    nodes: dict[str, NodeGids] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    @functools.cached_property
    def shared(self) -> Shared:
        """What all of them have in common."""
        found = Shared()
        for name, node in self.nodes.items():
            found = found.and_(name, node)
        return found


def places(node: NodeGids) -> str:
    """Where all rails of a node have addresses, for people."""
    found = [f"{one} ({family})" for family, some in node.indexes.items() for one in some]
    return ", ".join(found[:_SHOWN]) or "no common index"


def fleet_view(
    nodes: Mapping[str, tuple[NcclHost, NcclPolicy]], absent: Iterable[str] = ()
) -> FleetView:
    """What all of these nodes have; nodes whose rails are InfiniBand take no part."""
    found = {name: node_gids(rails(*one).ports, one[0]) for name, one in nodes.items()}
    return FleetView({name: one for name, one in found.items() if one is not None}, tuple(absent))


def node_gids(ports: tuple[NcclPort, ...], host: NcclHost) -> NodeGids | None:
    """The addresses of these rails; None where none of them is RoCE's."""
    if not ports:
        return None if host.ports.value == () else NodeGids(unknown="its rails cannot be told")
    mine = [one for one in ports if one.layer == ETHERNET]
    if not mine:
        return None
    # The kernel takes the addresses of an interface that is down out of the table.
    live = [one for one in mine if one.active]
    if not live:
        return NodeGids(unknown="none of its rails is Active")
    unread = [f"{one.name}: {one.gids.why}" for one in live if one.gids.value is None]
    if unread:
        return NodeGids(unknown=unread[0])
    tables = [one.gids.value or () for one in live]
    return NodeGids(
        tuple(one for one in ROUTABLE if all(_selected(some, one) for some in tables)),
        {one: _shared(tables, one) for one in ROUTABLE},
    )


def selected(gids: Gids, family: str) -> GidEntry | None:
    """The entry that NCCL takes by itself: the first RoCE v2 one of the family, IPv6 not from a
    link's own addresses; where none is v2, the first of the family."""
    mine = [one for one in gids if _family(one) == family]
    if family == IPV6:
        mine = [one for one in mine if one.kind != LINK_LOCAL]
    newer = [one for one in mine if one.type == ROCE_V2]
    return next(iter(newer or mine), None)


def _selected(gids: Gids, family: str) -> bool:
    taken = selected(gids, family)
    return taken is not None and taken.usable


def _family(entry: GidEntry) -> str:
    return IPV6 if ":" in entry.address else IPV4


def _shared(tables: list[Gids], family: str) -> tuple[int, ...]:
    """Indexes at which each table has an address of this family that RoCE v2 routes."""
    found = [{one.index for one in some if one.usable and one.kind == family} for some in tables]
    return tuple(sorted(set.intersection(*found))) if found else ()
