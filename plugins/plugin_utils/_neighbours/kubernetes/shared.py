# SPDX-License-Identifier: GPL-3.0-or-later
"""The RDMA shared device plugin: one resource for the rails of each pool, by what tells them from
the other HCAs of the node."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._ground.link import ETHERNET, INFINIBAND
from . import names
from .nodes import Hca
from .pools import Pool

PREFIX = "rdma"
# As the plugins call the link layers (netlink's encapsulation types).
LINKS = {INFINIBAND: "infiniband", ETHERNET: "ether"}
_NAMES = {INFINIBAND: "hca_ib", ETHERNET: "hca_roce"}


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
    for layer in sorted({pool.layer for pool in pools}):
        mine = [pool for pool in pools if pool.layer == layer]
        together = _resource(_NAMES[layer], mine)
        if interfaces:
            together = Shared(_NAMES[layer], {**_plain(mine), "ifNames": sorted(interfaces)})
        if len(mine) == 1 or not together.more:
            found |= {entry.slug: together for entry in mine}
            continue
        for entry in mine:
            suffix = names.slug(entry.slug).replace("-", "_")
            found[entry.slug] = _resource(f"{_NAMES[layer]}_{suffix}", [entry])
    return found


def _resource(name: str, pools: Sequence[Pool]) -> Shared:
    """With the selectors that take nothing but the rails; else with those that take the least."""
    best: Shared | None = None
    for selectors in _candidates(pools):
        more = tuple(
            More(node.host, other.name, other.why)
            for pool in pools
            for node in pool.nodes
            for other in node.others
            if _takes(selectors, other)
        )
        if best is None or len(more) < len(best.more):
            best = Shared(name, selectors, more)
        if not more:
            break
    if best is None:
        raise AssertionError("there is always a candidate")
    return best


def _candidates(pools: Sequence[Pool]) -> Iterable[dict[str, list[str]]]:
    """From the few that say least to those that say most; only what every rail can be known by."""
    plain = _plain(pools)
    yield plain
    rails = _rails(pools)
    # The plugin looks at the network interface for both of these.
    if all(rail.netdev for rail in rails):
        yield {**plain, "linkTypes": _each(rails, lambda entry: LINKS[entry.layer])}
        yield {**plain, "ifNames": _each(rails, lambda entry: entry.netdev)}


def _rails(pools: Sequence[Pool]) -> list[Hca]:
    return [rail for pool in pools for node in pool.nodes for rail in node.rails]


def _plain(pools: Sequence[Pool]) -> dict[str, list[str]]:
    rails = _rails(pools)
    return {
        "vendors": _each(rails, lambda entry: entry.vendor),
        "deviceIDs": _each(rails, lambda entry: entry.device),
    }


def _each(rails: Iterable[Hca], what: Callable[[Hca], str]) -> list[str]:
    return sorted({what(rail) for rail in rails})


def _takes(selectors: Mapping[str, list[str]], hca: Hca) -> bool:
    """Whether the plugin takes an HCA: every selector that is there has to."""
    said = {
        "vendors": hca.vendor,
        "deviceIDs": hca.device,
        "linkTypes": LINKS.get(hca.layer, "") if hca.netdev else "",
        "ifNames": hca.netdev,
    }
    return all(said[name] in wanted for name, wanted in selectors.items())


def told(more: Iterable[More]) -> str:
    """The ports in words, those with one reason together."""
    reasons: dict[str, list[More]] = {}
    for entry in more:
        reasons.setdefault(entry.why, []).append(entry)
    said = []
    for why, listed in reasons.items():
        ports = names.shown(sorted({entry.port for entry in listed}))
        hosts = names.shown(sorted({entry.host for entry in listed}))
        said.append(f"{ports} on {hosts}" + (f" ({why})" if why else ""))
    return "; ".join(said)


def config(shared: Iterable[Shared], pods_per_node: int) -> str:
    """The configuration, as the plugin reads it."""
    by_name = {entry.name: entry for entry in shared}
    listed: list[dict[str, Any]] = [
        {
            "resourceName": name,
            "rdmaHcaMax": pods_per_node,
            "selectors": dict(by_name[name].selectors),
        }
        for name in sorted(by_name)
    ]
    return json.dumps({"configList": listed}, indent=2) + "\n"
