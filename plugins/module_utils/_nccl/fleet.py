# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be the same on every node of a RoCE fabric: which address NCCL takes; no I/O."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Iterable, Mapping, Tuple

from .._expect.nccl_policy import NcclPolicy
from .._ground.link import ETHERNET
from .._parse.gid import IPV4, IPV6, LINK_LOCAL, ROUTABLE
from .._rails.roce_ports import ROCE_V2, GidEntry
from .derive_rails import rails
from .host import NcclHost, NcclPort

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
            lacks = [entry for entry in ROUTABLE if entry not in node.selects]
            selects = selects.difference(lacks)
            without = {**{lack: name for lack in lacks}, **without}
        mine = {entry: frozenset(node.indexes.get(entry, ())) for entry in ROUTABLE}
        if self.indexes is not None:
            mine = {entry: mine[entry] & self.indexes[entry] for entry in ROUTABLE}
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
    found = [f"{entry} ({family})" for family, some in node.indexes.items() for entry in some]
    return ", ".join(found[:_SHOWN]) or "no common index"


def fleet_view(nodes: Mapping[str, tuple[NcclHost, NcclPolicy]], absent: Iterable[str] = ()) -> FleetView:
    """What all of these nodes have; nodes whose rails are InfiniBand take no part."""
    found = {name: node_gids(rails(*node).ports, node[0]) for name, node in nodes.items()}
    return FleetView({name: item for name, item in found.items() if item is not None}, tuple(absent))


def node_gids(ports: tuple[NcclPort, ...], host: NcclHost) -> NodeGids | None:
    """The addresses of these rails; None where none of them is RoCE's."""
    if not ports:
        return None if host.ports.value == () else NodeGids(unknown="its rails cannot be told")
    mine = [port for port in ports if port.layer == ETHERNET]
    if not mine:
        return None
    # The kernel takes the addresses of an interface that is down out of the table.
    live = [entry for entry in mine if entry.active]
    if not live:
        return NodeGids(unknown="none of its rails is Active")
    unread = [f"{entry.name}: {entry.gids.why}" for entry in live if entry.gids.value is None]
    if unread:
        return NodeGids(unknown=unread[0])
    tables = [entry.gids.value or () for entry in live]
    return NodeGids(
        tuple(entry for entry in ROUTABLE if all(_selected(some, entry) for some in tables)),
        {entry: _shared(tables, entry) for entry in ROUTABLE},
    )


def selected(gids: Gids, family: str) -> GidEntry | None:
    """The entry that NCCL takes by itself: the first RoCE v2 one of the family, IPv6 not from a
    link's own addresses; where none is v2, the first of the family."""
    mine = [gid for gid in gids if (IPV6 if ":" in gid.address else IPV4) == family]
    if family == IPV6:
        mine = [entry for entry in mine if entry.kind != LINK_LOCAL]
    newer = [entry for entry in mine if entry.type == ROCE_V2]
    return next(iter(newer or mine), None)


def _selected(gids: Gids, family: str) -> bool:
    taken = selected(gids, family)
    return taken is not None and taken.usable


def _shared(tables: list[Gids], family: str) -> tuple[int, ...]:
    """Indexes at which each table has an address of this family that RoCE v2 routes."""
    found = [{gid.index for gid in some if gid.usable and gid.kind == family} for some in tables]
    return tuple(sorted(set.intersection(*found))) if found else ()
