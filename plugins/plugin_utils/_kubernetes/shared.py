# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA shared device plugin: one resource for the rails of each pool, by what tells them from
the other HCAs of the node."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes import names
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.nodes import Hca
from ansible_collections.ibready.cluster.plugins.plugin_utils._kubernetes.pools import Pool

PREFIX = "rdma"
# As the plugin calls the link layers (netlink's encapsulation types).
_LINKS = {"InfiniBand": "infiniband", "Ethernet": "ether"}
_NAMES = {"InfiniBand": "hca_ib", "Ethernet": "hca_roce"}


@dataclass(frozen=True)
class More:
    """A port beside the rails that a resource gives as well; ``why`` it is no rail, if known."""

    host: str
    port: str
    why: str = ""


@dataclass(frozen=True)
class Shared:
    """A resource of the plugin."""

    name: str
    selectors: Mapping[str, list[str]]
    more: tuple[More, ...] = ()

    @property
    def resource(self) -> str:
        """As a pod asks for it."""
        return f"{PREFIX}/{self.name}"


def resources(pools: Sequence[Pool], interfaces: Sequence[str] = ()) -> dict[str, Shared]:
    """The resource of each pool, by the pool's slug. Pools of one link layer share theirs where
    one set of selectors is right for all of them. ``interfaces``: those that the site names, which
    are then taken without asking what they are."""
    found: dict[str, Shared] = {}
    for layer in sorted({one.layer for one in pools}):
        mine = [one for one in pools if one.layer == layer]
        together = _resource(_NAMES[layer], mine)
        if interfaces:
            together = Shared(_NAMES[layer], {**_plain(mine), "ifNames": sorted(interfaces)})
        if len(mine) == 1 or not together.more:
            found |= {one.slug: together for one in mine}
            continue
        for one in mine:
            suffix = names.slug(one.slug).replace("-", "_")
            found[one.slug] = _resource(f"{_NAMES[layer]}_{suffix}", [one])
    return found


def _resource(name: str, pools: Sequence[Pool]) -> Shared:
    """With the selectors that take nothing but the rails; else with those that take the least."""
    best: Shared | None = None
    for selectors in _candidates(pools):
        more = tuple(
            More(node.host, one.name, one.why)
            for pool in pools
            for node in pool.nodes
            for one in node.others
            if _takes(selectors, one)
        )
        if best is None or len(more) < len(best.more):
            best = Shared(name, selectors, more)
        if not more:
            break
    assert best is not None
    return best


def _candidates(pools: Sequence[Pool]) -> Iterable[dict[str, list[str]]]:
    """From the few that say least to those that say most; only what every rail can be known by."""
    plain = _plain(pools)
    yield plain
    rails = _rails(pools)
    # The plugin looks at the network interface for both of these.
    if all(one.netdev for one in rails):
        yield {**plain, "linkTypes": _each(rails, lambda one: _LINKS[one.layer])}
        yield {**plain, "ifNames": _each(rails, lambda one: one.netdev)}


def _rails(pools: Sequence[Pool]) -> list[Hca]:
    return [rail for pool in pools for node in pool.nodes for rail in node.rails]


def _plain(pools: Sequence[Pool]) -> dict[str, list[str]]:
    rails = _rails(pools)
    return {
        "vendors": _each(rails, lambda one: one.vendor),
        "deviceIDs": _each(rails, lambda one: one.device),
    }


def _each(rails: Iterable[Hca], what: Callable[[Hca], str]) -> list[str]:
    return sorted({what(one) for one in rails})


def _takes(selectors: Mapping[str, list[str]], one: Hca) -> bool:
    """Whether the plugin takes an HCA: every selector that is there has to."""
    said = {
        "vendors": one.vendor,
        "deviceIDs": one.device,
        "linkTypes": _LINKS.get(one.layer, "") if one.netdev else "",
        "ifNames": one.netdev,
    }
    return all(said[name] in wanted for name, wanted in selectors.items())


def told(more: Iterable[More]) -> str:
    """The ports in words, those with one reason together."""
    reasons: dict[str, list[More]] = {}
    for one in more:
        reasons.setdefault(one.why, []).append(one)
    said = []
    for why, listed in reasons.items():
        ports = names.shown(sorted({one.port for one in listed}))
        hosts = names.shown(sorted({one.host for one in listed}))
        said.append(f"{ports} on {hosts}" + (f" ({why})" if why else ""))
    return "; ".join(said)


def config(shared: Iterable[Shared], pods_per_node: int) -> str:
    """The configuration, as the plugin reads it."""
    by_name = {one.name: one for one in shared}
    listed: list[dict[str, Any]] = [
        {
            "resourceName": name,
            "rdmaHcaMax": pods_per_node,
            "selectors": dict(by_name[name].selectors),
        }
        for name in sorted(by_name)
    ]
    return json.dumps({"configList": listed}, indent=2) + "\n"
