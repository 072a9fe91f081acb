# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether HCA i of every host is on the leaves of rail i, by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from .model import Fabric, Inventory
from .rails import Design, Leaf, Neighbours, Placed, design, placements
from .say import settled, some

RAIL = "fabric.rail.leaf"


def judge(
    fabrics: Sequence[Fabric], inventory: Inventory, partial: Mapping[str, str]
) -> tuple[dict[str, list[Check]], dict[str, list[Check]]]:
    """Checks by fabric and by host. ``partial``: by fabric, why not all of it was seen."""
    why = _does_not_apply(fabrics, inventory)
    if why:
        return {fabric.name: [skipped(RAIL, fabric.name, why)] for fabric in fabrics}, {}
    placed = placements(fabrics)
    known = design(fabrics, placed)
    cut = next((entry for entry in partial.values() if entry), "")
    if known is None:
        why = "the leaves show no rail design: each has HCAs of all rails, or of one alone"
        return {
            fabric.name: [unknown(RAIL, fabric.name, cut) if cut else skipped(RAIL, fabric.name, why)]
            for fabric in fabrics
        }, {}
    wrong = list({entry.hca: entry for entry in placed if known.wrong(entry)}.values())
    of_host: dict[str, list[Placed]] = {}
    for entry in wrong:
        of_host.setdefault(entry.hca.host, []).append(entry)
    neighbours = Neighbours(placed, known)
    source = f"fleet {len(placed) - len(wrong)}/{len(placed)}"
    hosts: dict[str, list[Check]] = {}
    reported: dict[str, list[Check]] = {fabric.name: [] for fabric in fabrics}
    for entry in wrong:
        where = some(neighbours.expected(entry.hca))
        check = _outlier(entry, of_host[entry.hca.host], where, known, source)
        hosts.setdefault(entry.hca.host, []).append(check)
        reported[entry.leaf.fabric].append(replace(check, subject=entry.hca.named))
    per_host = Counter(entry.hca.host for entry in placed)
    for host in sorted(set(per_host) - set(hosts)):
        seen = f"{per_host[host]} HCAs on the leaves of their rails"
        hosts[host] = [passed(RAIL, "host", seen, "the leaves of the rail", source)]
    for fabric in fabrics:
        if not reported[fabric.name]:
            mine = sum(entry.leaf.fabric == fabric.name for entry in placed)
            reported[fabric.name] = settled(
                *(RAIL, fabric.name, [], f"{mine} HCAs", "the leaves of the rail"),
                partial=partial.get(fabric.name, ""),
                source=source,
            )
    return reported, hosts


def _does_not_apply(fabrics: Sequence[Fabric], inventory: Inventory) -> str:
    if not inventory.rails:
        return "no inventory HCA is known, so no rail is"
    if len({hca.rail for hca in inventory.rails}) < 2:
        return "every host has one rail"
    if sum(bool(node.level) for fabric in fabrics for node in fabric.nodes.values()) < 2:
        return "one switch: all rails are on it"
    return ""


def _outlier(placed: Placed, beside: Sequence[Placed], where: str, known: Design, source: str) -> Check:
    """``beside``: the outliers of its host."""
    here = known.names[placed.leaf]
    of = _rails(known, placed.leaf)
    cause = f"its cable leads to {here}, a leaf of {of}"
    other = next((two for two in beside if _crossed(placed, two, known)), None)
    if other is not None:
        cause = f"the cables of {placed.hca.name} and {other.hca.name} are swapped: {cause}"
    return failed(RAIL, placed.hca.name, f"rail {placed.hca.rail + 1} on {here}", where, source, cause=cause)


def _crossed(placed: Placed, two: Placed, known: Design) -> bool:
    if placed.hca == two.hca:
        return False
    return placed.hca.rail in known.rails[two.leaf] and two.hca.rail in known.rails[placed.leaf]


def _rails(known: Design, leaf: Leaf) -> str:
    numbers = ", ".join(str(rail + 1) for rail in sorted(known.rails[leaf]))
    return f"rail {numbers}"
