# SPDX-License-Identifier: GPL-3.0-or-later
"""The design of the rails: which leaves carry which rails, by what most HCAs show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Fabric, Hca


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
    for one in placed:
        counts.setdefault(one.leaf, Counter())[one.hca.rail] += 1
    carried = {
        leaf: frozenset(rail for rail, n in seen.items() if 2 * n > max(seen.values()))
        for leaf, seen in counts.items()
    }
    sets = set(carried.values())
    owner: dict[int, frozenset[int]] = {}
    for rails in sets:
        for rail in rails:
            if owner.setdefault(rail, rails) != rails:
                return None
    # One without a leaf of its own is of another design than this.
    if len(sets) < 2 or {one.hca.rail for one in placed} - set(owner):
        return None
    by_name = {fabric.name: fabric for fabric in fabrics}
    names = {leaf: by_name[leaf.fabric].node_name(leaf.guid) for leaf in carried}
    return Design(carried, names)


def expected_leaf(one: Placed, placed: Sequence[Placed], known: Design) -> list[str]:
    """The leaves that an outlier should be on: those of its rail where the host's neighbours are.

    Neighbours are hosts that share a leaf with it on other rails.
    """
    mine = {p.leaf for p in placed if p.hca.host == one.hca.host and not known.wrong(p)}
    near = {p.hca.host for p in placed if p.leaf in mine and not known.wrong(p)}
    right = [p for p in placed if p.hca.rail == one.hca.rail and not known.wrong(p)]
    beside = Counter(p.leaf for p in right if p.hca.host in near)
    if beside:
        return [known.names[beside.most_common(1)[0][0]]]
    leaves = {leaf for leaf, rails in known.rails.items() if one.hca.rail in rails}
    return sorted(known.names[leaf] for leaf in leaves)
