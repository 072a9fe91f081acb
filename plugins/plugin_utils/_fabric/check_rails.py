# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether HCA i of every host is on the leaves of rail i, by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    Fabric,
    Inventory,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.rails import (
    Design,
    Leaf,
    Neighbours,
    Placed,
    design,
    placements,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.say import settled, some

RAIL = "fabric.rail.leaf"


def judge(
    fabrics: Sequence[Fabric], inventory: Inventory, partial: Mapping[str, str]
) -> tuple[dict[str, list[Check]], dict[str, list[Check]]]:
    """Checks by fabric and by host. ``partial``: by fabric, why not all of it was seen."""
    why = _does_not_apply(fabrics, inventory)
    if why:
        return {one.name: [skipped(RAIL, one.name, why)] for one in fabrics}, {}
    placed = placements(fabrics)
    known = design(fabrics, placed)
    cut = next((one for one in partial.values() if one), "")
    if known is None:
        why = "the leaves show no rail design: each has HCAs of all rails, or of one alone"
        return {
            one.name: [unknown(RAIL, one.name, cut) if cut else skipped(RAIL, one.name, why)]
            for one in fabrics
        }, {}
    wrong = list({one.hca: one for one in placed if known.wrong(one)}.values())
    of_host: dict[str, list[Placed]] = {}
    for one in wrong:
        of_host.setdefault(one.hca.host, []).append(one)
    neighbours = Neighbours(placed, known)
    source = f"fleet {len(placed) - len(wrong)}/{len(placed)}"
    hosts: dict[str, list[Check]] = {}
    told: dict[str, list[Check]] = {one.name: [] for one in fabrics}
    for one in wrong:
        where = some(neighbours.expected(one.hca))
        check = _outlier(one, of_host[one.hca.host], where, known, source)
        hosts.setdefault(one.hca.host, []).append(check)
        told[one.leaf.fabric].append(replace(check, subject=one.hca.named))
    per_host = Counter(one.hca.host for one in placed)
    for host in sorted(set(per_host) - set(hosts)):
        seen = f"{per_host[host]} HCAs on the leaves of their rails"
        hosts[host] = [passed(RAIL, "host", seen, "the leaves of the rail", source)]
    for fabric in fabrics:
        if not told[fabric.name]:
            mine = sum(one.leaf.fabric == fabric.name for one in placed)
            told[fabric.name] = settled(
                *(RAIL, fabric.name, [], f"{mine} HCAs", "the leaves of the rail"),
                partial=partial.get(fabric.name, ""),
                source=source,
            )
    return told, hosts


def _does_not_apply(fabrics: Sequence[Fabric], inventory: Inventory) -> str:
    if not inventory.rails:
        return "no inventory HCA is known, so no rail is"
    if len({hca.rail for hca in inventory.rails}) < 2:
        return "every host has one rail"
    if sum(bool(node.level) for fabric in fabrics for node in fabric.nodes.values()) < 2:
        return "one switch: all rails are on it"
    return ""


def _outlier(
    one: Placed, beside: Sequence[Placed], where: str, known: Design, source: str
) -> Check:
    """``beside``: the outliers of its host."""
    here = known.names[one.leaf]
    of = _rails(known, one.leaf)
    cause = f"its cable leads to {here}, a leaf of {of}"
    other = next((two for two in beside if _crossed(one, two, known)), None)
    if other is not None:
        cause = f"the cables of {one.hca.name} and {other.hca.name} are swapped: {cause}"
    return failed(
        RAIL,
        one.hca.name,
        f"rail {one.hca.rail + 1} on {here}",
        where,
        source,
        cause=cause,
    )


def _crossed(one: Placed, two: Placed, known: Design) -> bool:
    if one.hca == two.hca:
        return False
    return one.hca.rail in known.rails[two.leaf] and two.hca.rail in known.rails[one.leaf]


def _rails(known: Design, leaf: Leaf) -> str:
    numbers = ", ".join(str(rail + 1) for rail in sorted(known.rails[leaf]))
    return f"rail {numbers}"
