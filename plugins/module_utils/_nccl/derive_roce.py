# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RoCE address NCCL takes, and how its packets are marked; no I/O.

From 2.21 on NCCL finds the address by family and version, and nothing is said of it where that
gives a good one on every node. An index is a last resort: it must be right on every node.
"""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import UNSET
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import registry
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import Rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import (
    Untold,
    setting,
    untold,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import (
    ETHERNET,
    FleetView,
    NodeGids,
    Shared,
    node_gids,
    places,
    selected,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import shown
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.setting import Setting
from ansible_collections.ibready.cluster.plugins.module_utils._parse.gid import IPV4, IPV6

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
        return [_of_all(one, fleet) for one in _by_family(shared)]
    if fleet is None:
        why = "needs the one that is right on every node, and nobody compared them"
        return [untold(INDEX, f"NCCL {shown(nccl)} {why}")]
    found = _by_index(shared, f"NCCL {shown(nccl)} does not look for the address by itself")
    return [_of_all(found, fleet)]


def _of_all(one: Setting | Untold, fleet: FleetView | None) -> Setting | Untold:
    """An index has to be right on the nodes as well that nobody could look at."""
    if fleet is None or not fleet.absent or one.name != INDEX or isinstance(one, Untold):
        return one
    some = ", ".join(fleet.absent[:4])
    return untold(INDEX, f"it may be {one.value}, but nobody could compare {some}")


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
    if all(index not in one for one in mine.indexes.values()):
        have = places(mine)
        why = f"ibready_expect.roce_gid_index is {index}; RoCE v2 addresses are at {have}"
        return [untold(INDEX, why)]
    nccl = host.release
    live = [one.gids.value or () for one in rails.ports if one.layer == ETHERNET and one.active]
    taken = {one.index for one in (selected(some, IPV4) for some in live) if one is not None}
    if nccl is not None and registry.reads(FAMILY, nccl) and taken == {index}:
        return []
    return [setting(INDEX, index, f"ibready_expect.roce_gid_index is {index}")]


def marks(host: NcclHost, rails: Rails, policy: NcclPolicy) -> Iterator[Setting]:
    """Traffic class and service level, where the site sets them."""
    if policy.tc is not None:
        yield setting(TC, policy.tc, "nccl_ib_tc")
    elif host.wanted.tos is not None and any(
        one.layer == ETHERNET and one.traffic_class in (None, UNSET) for one in rails.ports
    ):
        why = "ibready_expect.roce_tos, which the driver does not set on every rail"
        yield setting(TC, host.wanted.tos, why)
    if policy.sl is not None:
        yield setting(SL, policy.sl, "nccl_ib_sl")
