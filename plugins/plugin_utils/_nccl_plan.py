# SPDX-License-Identifier: GPL-3.0-or-later
"""From what the hosts told to the lines of each one's nccl.conf, with all of them compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import host as hosts
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import wish as wishes
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import derive, is_idle
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derived import Derived
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import (
    FleetView,
    fleet_view,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.wish import Wish


class ToldError(ValueError):
    """A host told something that cannot be read."""


@dataclass(frozen=True)
class Told:
    """What one host told: the module nccl_host's result."""

    host: NcclHost
    wish: Wish


def told(name: str, host: Any, wish: Any) -> Told:
    """Read what a host told of itself, and what of the inventory it was given; ToldError names
    it."""
    try:
        return Told(hosts.from_dict(host), wishes.from_dict(wish))
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        raise ToldError(f"{name}: nccl_host returned what cannot be read: {exc!r}") from exc


def fleet(nodes: Mapping[str, Told], absent: Iterable[str] = ()) -> FleetView:
    """What the nodes have in common; idle ones take no part."""
    busy = {name: one for name, one in nodes.items() if not is_idle(one.host)}
    return fleet_view({name: (one.host, one.wish.policy) for name, one in busy.items()}, absent)


def plan(
    nodes: Mapping[str, Told], names: Iterable[str], absent: Iterable[str] = ()
) -> dict[str, Derived]:
    """The lines of these hosts, of all that told; ``absent``: those that did not."""
    view = fleet(nodes, absent)
    return {
        name: Derived() if is_idle(nodes[name].host) else _derive(nodes[name], view)
        for name in names
    }


def _derive(node: Told, view: FleetView) -> Derived:
    return derive(node.host, node.wish.policy, view)
