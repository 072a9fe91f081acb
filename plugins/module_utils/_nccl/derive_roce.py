# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RoCE address NCCL takes, and how its packets are marked; no I/O.

From 2.21 on NCCL finds the address by family and version, and nothing is said of it where that
gives a good one on every node. An index is a last resort: it must be right on every node.
"""

from __future__ import annotations

from typing import Iterator

from .._expect.nccl_policy import NcclPolicy
from .._ground.link import ETHERNET
from .._parse.gid import IPV4, IPV6
from .._rails.roce_ports import UNSET
from . import registry
from .derive_rails import Rails
from .derived import Setting, Untold, setting, untold
from .fleet import FleetView, NodeGids, Shared, node_gids, places, selected
from .host import NcclHost
from .release import shown

INDEX, FAMILY = "NCCL_IB_GID_INDEX", "NCCL_IB_ADDR_FAMILY"
TC, SL = "NCCL_IB_TC", "NCCL_IB_SL"
_FAMILIES = {IPV4: "AF_INET", IPV6: "AF_INET6"}
# What has to be right on all nodes, so that none can tell it alone.
SHARED = (FAMILY, INDEX)
_ALONE = "this host"


def addresses(host: NcclHost, rails: Rails, fleet: FleetView | None) -> list[Setting | Untold]:
    """How NCCL is to choose among the addresses of RoCE rails; [] where it does so by itself."""
    mine = node_gids(rails.ports, host)
    if mine is None or not rails.ports:
        return []
    if mine.unknown:
        return [untold(INDEX, mine.unknown)]
    nccl = host.release
    if host.wanted.gid_index is not None:
        return _expected(host, rails, mine, host.wanted.gid_index)
    if nccl is None:
        why = host.nccl.why or f"{host.nccl.value} is no release of NCCL"
        return [untold(INDEX, f"whether NCCL needs one hangs on its release: {why}")]
    shared = (fleet.shared if fleet is not None else Shared()).and_(_ALONE, mine)
    if registry.reads(FAMILY, nccl):
        return [_of_all(entry, fleet) for entry in _by_family(shared)]
    if fleet is None:
        why = "needs the one that is right on every node, and nobody compared them"
        return [untold(INDEX, f"NCCL {shown(nccl)} {why}")]
    found = _by_index(shared, f"NCCL {shown(nccl)} does not look for the address by itself")
    return [_of_all(found, fleet)]


def _of_all(entry: Setting | Untold, fleet: FleetView | None) -> Setting | Untold:
    """An index has to be right on the nodes as well that nobody could look at."""
    if fleet is None or not fleet.absent or entry.name != INDEX or isinstance(entry, Untold):
        return entry
    some = ", ".join(fleet.absent[:4])
    return untold(INDEX, f"it may be {entry.value}, but nobody could compare {some}")


def _by_family(nodes: Shared) -> list[Setting | Untold]:
    if IPV4 in nodes.selects:
        return []
    if nodes.unknown:
        return [untold(FAMILY, nodes.unknown)]
    if IPV6 in nodes.selects:
        without = nodes.without[IPV4]
        why = f"every rail has an IPv6 address for RoCE v2, and those of {without} no good IPv4 one"
        return [setting(FAMILY, _FAMILIES[IPV6], why)]
    return [_by_index(nodes, "neither IPv4 nor IPv6 finds a good address on every rail")]


def _by_index(nodes: Shared, because: str) -> Setting | Untold:
    if nodes.unknown:
        return untold(INDEX, nodes.unknown)
    for family in _FAMILIES:
        common = (nodes.indexes or {}).get(family)
        if common:
            why = f"{because}; index {min(common)} is {family} for RoCE v2 on every rail"
            return setting(INDEX, min(common), f"{why} of every node")
    have = "; ".join(nodes.shown)
    return untold(INDEX, f"{because}, and no index is right on every node: {have}")


def _expected(host: NcclHost, rails: Rails, mine: NodeGids, index: int) -> list[Setting | Untold]:
    """The inventory names the index (ibready_expect.roce_gid_index)."""
    if all(index not in entry for entry in mine.indexes.values()):
        have = places(mine)
        return [untold(INDEX, f"ibready_expect.roce_gid_index is {index}; RoCE v2 addresses are at {have}")]
    nccl = host.release
    live = [port.gids.value or () for port in rails.ports if port.layer == ETHERNET and port.active]
    taken = {entry.index for entry in (selected(some, IPV4) for some in live) if entry is not None}
    if nccl is not None and registry.reads(FAMILY, nccl) and taken == {index}:
        return []
    return [setting(INDEX, index, f"ibready_expect.roce_gid_index is {index}")]


def marks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[Setting]:
    """Traffic class and service level, where the site sets them."""
    if policy.tc is not None:
        yield setting(TC, policy.tc, "nccl_ib_tc")
    elif host.wanted.tos is not None and any(
        port.layer == ETHERNET and port.traffic_class in (None, UNSET) for port in rails.ports
    ):
        yield setting(TC, host.wanted.tos, "ibready_expect.roce_tos, which the driver does not set on every rail")
    if policy.sl is not None:
        yield setting(SL, policy.sl, "nccl_ib_sl")
