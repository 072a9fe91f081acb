# SPDX-License-Identifier: GPL-3.0-or-later
"""The design of the rails: which leaves carry which rails, by what most HCAs show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .model import Fabric, Hca


class Leaf(NamedTuple):
    """A leaf of one of several fabrics."""

    fabric: str
    guid: str


class Placed(NamedTuple):
    """An HCA and the leaf that it is plugged into."""

    hca: Hca
    leaf: Leaf


@dataclass(frozen=True)
class Design:
    """``rails``: what a leaf is there for. ``names``: of the leaves."""

    rails: Mapping[Leaf, frozenset[int]]
    names: Mapping[Leaf, str]

    def wrong(self, placed: Placed) -> bool:
        return placed.hca.rail not in self.rails[placed.leaf]


def placements(fabrics: Sequence[Fabric]) -> list[Placed]:
    """Every rail whose cable leads to a switch."""
    found = []
    for fabric in fabrics:
        for end, hca in fabric.hcas.items():
            far = fabric.far.get(end)
            if far is not None and fabric.nodes[far.guid].level:
                found.append(Placed(hca, Leaf(fabric.name, far.guid)))
    return found


def design(fabrics: Sequence[Fabric], placed: Sequence[Placed]) -> Design | None:
    """The design, or None where the leaves do not show one.

    A leaf carries the rails of which it has at least half as many HCAs as of its commonest. There
    is a design where leaves carry either the same rails or none in common, and not all the same.
    """
    counts: dict[Leaf, Counter[int]] = {}
    for item in placed:
        counts.setdefault(item.leaf, Counter())[item.hca.rail] += 1
    carried = {
        leaf: frozenset(rail for rail, n in seen.items() if 2 * n > max(seen.values())) for leaf, seen in counts.items()
    }
    sets = set(carried.values())
    owner: dict[int, frozenset[int]] = {}
    for rails in sets:
        for rail in rails:
            if owner.setdefault(rail, rails) != rails:
                return None
    # One without a leaf of its own is of another design than this.
    if len(sets) < 2 or {entry.hca.rail for entry in placed} - set(owner):
        return None
    by_name = {fabric.name: fabric for fabric in fabrics}
    names = {leaf: by_name[leaf.fabric].node_name(leaf.guid) for leaf in carried}
    return Design(carried, names)


class Neighbours:
    """Hosts that share a leaf, by the HCAs that are where they should be."""

    def __init__(self, placed: Sequence[Placed], known: Design) -> None:
        self._known = known
        # The leaves of a host by rail, and the hosts of a leaf.
        self._leaves: dict[str, dict[int, Leaf]] = {}
        self._hosts: dict[Leaf, list[str]] = {}
        for entry in placed:
            if not known.wrong(entry):
                self._leaves.setdefault(entry.hca.host, {})[entry.hca.rail] = entry.leaf
                self._hosts.setdefault(entry.leaf, []).append(entry.hca.host)

    def expected(self, hca: Hca) -> list[str]:
        """The leaves that an outlier should be on: of its rail, that of the host's neighbours."""
        mine = self._leaves.get(hca.host, {}).values()
        near = dict.fromkeys(host for leaf in mine for host in self._hosts[leaf])
        beside = Counter(self._leaves[host][hca.rail] for host in near if hca.rail in self._leaves[host])
        if beside:
            return [self._known.names[beside.most_common(1)[0][0]]]
        leaves = [leaf for leaf, rails in self._known.rails.items() if hca.rail in rails]
        return sorted(self._known.names[leaf] for leaf in leaves)
