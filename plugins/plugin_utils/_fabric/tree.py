# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics as one tree of switches above hosts, as schedulers want it.

A host with a rail on each of several leaves has one place in a tree: the set of its leaves stands there
as one switch, and so do the spines above the same leaves, and so on. docs/topology.md has the reasons.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .._slurm.hostlist import natural
from .model import LEAF, Fabric, Inventory
from .rails import Leaf, placements

T = TypeVar("T", bound=Hashable)

# Below Slurm's 64 and the 63 of a label in Kubernetes.
_LONGEST = 60
# How managed switches describe themselves: "MF0;leaf1:MQM9700/U1". Source: topograph, pkg/ib.
_MANAGED = re.compile(r"[^;:]+;([^;:]+):[^;:]+")


@dataclass(eq=False)
class Part:
    """A switch of the tree: one of the fabric or a set of them, above hosts or above other parts.

    ``tier``: 1 next to hosts. ``over``: hosts hang on switches that are above others, too.
    """

    switches: frozenset[Leaf]
    tier: int
    hosts: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    over: bool = False
    name: str = ""


@dataclass(frozen=True)
class Tree:
    """``parts``: each after those below it. ``path``: by host the parts above it, the nearest first.

    ``off``: hosts that have no place in it, and why; those in ``bare`` have no rail at all. ``names``: of
    every switch of the fabrics by itself.
    ``apart``: whether there are hosts that do not reach each other.
    """

    parts: tuple[Part, ...] = ()
    path: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    off: Mapping[str, str] = field(default_factory=dict)
    bare: frozenset[str] = frozenset()
    names: Mapping[Leaf, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    apart: bool = False

    def real(self, part: Part) -> list[str]:
        """The switches of the fabric that a part stands for."""
        return sorted((self.names[switch] for switch in part.switches), key=natural)


def build(fabrics: Sequence[Fabric], inventory: Inventory) -> Tree:
    """The tree of all fabrics that were seen."""
    names = _names(fabrics)
    near, tiers = _above(fabrics)
    leaves: dict[str, set[Leaf]] = {}
    for placed in placements(fabrics):
        leaves.setdefault(placed.hca.host, set()).add(placed.leaf)
    lowest = {host: min(tiers.get(leaf, 1) for leaf in mine) for host, mine in leaves.items()}
    sets = {
        host: frozenset(leaf for leaf in mine if tiers.get(leaf, 1) == lowest[host]) for host, mine in leaves.items()
    }
    notes = []
    waiting: list[Part] = []
    for hosts, switches in _alike(sets):
        tier = tiers.get(min(switches), 1)
        waiting.append(Part(switches, max(1, tier - 1), tuple(sorted(hosts, key=natural)), (), tier > 1))
        for host in sorted(hosts, key=natural):
            if strange := sorted(names[leaf] for leaf in leaves[host] - switches):
                notes.append(f"{host} is on {', '.join(strange)} too, and stands where most of its HCAs are")
    parts = list(waiting)
    for tier in range(2, max(tiers.values(), default=1) + 1):
        ups = {part: _ups(part, near, tiers) for part in waiting if part.tier == tier - 1}
        done = {part: above for part, above in ups.items() if above}
        made = [Part(switches, tier, (), tuple(below)) for below, switches in _alike(done)]
        waiting = [part for part in waiting if part not in done] + made
        parts += made
    # A spine that only core switches reach any more is above nothing.
    for at, part in enumerate(waiting):
        while part.tier > 2 and len(part.parts) == 1:
            parts.remove(part)
            waiting[at] = part = part.parts[0]
    roots, apart = _joined(waiting, near)
    parts += [part for part in roots if part not in parts]
    _call(parts, names)
    off, bare = _off(inventory, leaves)
    return Tree(tuple(parts), _paths(roots), off, bare, names, tuple(notes), apart)


def _above(fabrics: Sequence[Fabric]) -> tuple[dict[Leaf, set[Leaf]], dict[Leaf, int]]:
    """The neighbours of every switch, and how far up it is: leaves are 1."""
    near: dict[Leaf, set[Leaf]] = {}
    for fabric in fabrics:
        for end, far in fabric.far.items():
            if fabric.nodes[end.guid].level and fabric.nodes[far.guid].level:
                near.setdefault(Leaf(fabric.name, end.guid), set()).add(Leaf(fabric.name, far.guid))
    ring = {Leaf(fabric.name, leaf.guid) for fabric in fabrics for leaf in fabric.switches(LEAF)}
    tiers: dict[Leaf, int] = {}
    tier = 0
    while ring:
        tier += 1
        tiers.update(dict.fromkeys(ring, tier))
        ring = {other for switch in ring for other in near.get(switch, ()) if other not in tiers}
    return near, tiers


def _ups(part: Part, near: Mapping[Leaf, set[Leaf]], tiers: Mapping[Leaf, int]) -> frozenset[Leaf]:
    if part.over:
        return part.switches
    beside = (other for switch in part.switches for other in near.get(switch, ()))
    return frozenset(other for other in beside if tiers[other] == part.tier + 1)


def _alike(sets: Mapping[T, frozenset[Leaf]]) -> list[tuple[list[T], frozenset[Leaf]]]:
    """Those that have most of their switches in common with a set that more have: a missing or a wrong
    cable makes no switch of its own."""
    counts = Counter(sets.values())
    homes: dict[frozenset[Leaf], frozenset[Leaf]] = {}
    of: dict[Leaf, list[frozenset[Leaf]]] = {}
    for mine in sorted(counts, key=lambda some: (-counts[some], -len(some), sorted(some))):
        shared = Counter(home for switch in mine for home in of.get(switch, ()))
        best = max(shared, key=lambda home: shared[home]) if shared else mine
        homes[mine] = best if 2 * shared[best] > len(mine) else mine
        if homes[mine] == mine:
            for switch in mine:
                of.setdefault(switch, []).append(mine)
    found: dict[frozenset[Leaf], list[T]] = {}
    for key, mine in sets.items():
        found.setdefault(homes[mine], []).append(key)
    return [(keys, home) for home, keys in found.items()]


def _joined(roots: Sequence[Part], near: Mapping[Leaf, set[Leaf]]) -> tuple[list[Part], bool]:
    """The tops, those that reach each other below one; and whether more than one is left."""
    where: dict[Leaf, int] = {}
    for start in near:
        ring = {start} - set(where)
        number = len(where)
        while ring:
            where.update(dict.fromkeys(ring, number))
            ring = {other for switch in ring for other in near.get(switch, ()) if other not in where}
    groups: list[tuple[set[object], list[Part]]] = []
    for part in roots:
        mine: set[object] = {where.get(switch, switch) for switch in part.switches}
        together = [part]
        for group in [group for group in groups if group[0] & mine]:
            groups.remove(group)
            mine |= group[0]
            together = [*group[1], *together]
        groups.append((mine, together))
    tops = [
        group[0] if len(group) == 1 else Part(frozenset(), 1 + max(part.tier for part in group), (), tuple(group))
        for _mine, group in groups
    ]
    return tops, len(tops) > 1


def _paths(roots: Iterable[Part]) -> dict[str, tuple[Part, ...]]:
    found: dict[str, tuple[Part, ...]] = {}
    waiting: list[tuple[Part, tuple[Part, ...]]] = [(part, ()) for part in reversed(list(roots))]
    while waiting:
        part, above = waiting.pop()
        path = (part, *above)
        found.update(dict.fromkeys(part.hosts, path))
        waiting += [(child, path) for child in sorted(part.parts, key=lambda child: natural(child.name), reverse=True)]
    return found


def _off(inventory: Inventory, placed: Collection[str]) -> tuple[dict[str, str], frozenset[str]]:
    rails = Counter(hca.host for hca in inventory.rails)
    found = {
        host: f"none of its {n} InfiniBand rails is on a switch" for host, n in rails.items() if host not in placed
    }
    found |= {host: why or "it did not answer" for host, why in inventory.silent.items() if host not in placed}
    bare = {host: "it has no InfiniBand rail" for host in inventory.cliques if host not in {*placed, *found}}
    return dict(sorted((found | bare).items(), key=lambda item: natural(item[0]))), frozenset(bare)


def _names(fabrics: Sequence[Fabric]) -> dict[Leaf, str]:
    """A name for every switch: by its description, with its GUID where that is no other's name alone."""
    told = {
        Leaf(fabric.name, node.guid): fabric.node_name(node.guid)
        for fabric in fabrics
        for node in fabric.nodes.values()
        if node.level
    }
    short = {switch: _safe(found[1]) if (found := _MANAGED.fullmatch(text)) else "" for switch, text in told.items()}
    alone = Counter(short.values())
    names = {
        switch: short[switch] if alone[short[switch]] == 1 and short[switch] else _safe(text)
        for switch, text in told.items()
    }
    alone = Counter(names.values())
    return {
        switch: name if name and alone[name] == 1 else _safe(f"{name or 'switch'}-{switch.guid}")
        for switch, name in names.items()
    }


def _call(parts: Sequence[Part], names: Mapping[Leaf, str]) -> None:
    used: set[str] = set()
    for part in parts:
        mine = sorted((names[switch] for switch in part.switches), key=natural)
        base = "fabric" if not mine else mine[0] if len(mine) == 1 else f"{mine[0]}_to_{mine[-1]}"
        base = _safe(f"{base}_hosts" if part.over else base)
        part.name = next(
            name for name in (base, *(f"{base}_{n}" for n in range(2, len(parts) + 2))) if name not in used
        )
        used.add(part.name)


def _safe(text: str) -> str:
    """What Slurm and a label of Kubernetes take; what is too long ends with a sum, to stay unique."""
    clean = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")
    if len(clean) <= _LONGEST:
        return clean
    return f"{clean[: _LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
