# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether HCA i of every host is on the leaves of rail i, by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._ground.equals import most_have
from .model import Fabric, Inventory
from .rails import Design, Leaf, Neighbours, Placed, design, placements
from .say import settled, some

RAIL = "fabric.rail.leaf"
_RENAME = (
    "leave the cables; give the devices the names that they have on other hosts: compare `ls -l /sys/class/infiniband` "
    "and the udev rules below /etc/udev/rules.d, then `rdma dev set NAME name OTHER` or boot anew"
)


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
    usual = _usual(inventory)
    source = f"fleet {len(placed) - len(wrong)}/{len(placed)}"
    hosts: dict[str, list[Check]] = {}
    reported: dict[str, list[Check]] = {fabric.name: [] for fabric in fabrics}
    for entry in wrong:
        where = some(neighbours.expected(entry.hca))
        check = _outlier(entry, of_host[entry.hca.host], where, known, usual, source)
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


def _usual(inventory: Inventory) -> dict[int, int]:
    """Which rail has each place in the order of PCI addresses, on most hosts."""
    rails: dict[int, list[str]] = {}
    for hca in inventory.rails:
        if hca.place >= 0:
            rails.setdefault(hca.place, []).append(str(hca.rail))
    found = {place: most_have(seen) for place, seen in rails.items()}
    return {place: int(most[0]) for place, most in found.items() if most is not None}


def _outlier(
    placed: Placed, beside: Sequence[Placed], where: str, known: Design, usual: Mapping[int, int], source: str
) -> Check:
    """``beside``: the outliers of its host. ``usual``: the rail of a place in the order of PCI."""
    here = known.names[placed.leaf]
    seen = f"rail {placed.hca.rail + 1} on {here}"
    slot = usual.get(placed.hca.place, placed.hca.rail)
    if slot != placed.hca.rail and slot in known.rails[placed.leaf]:
        cause = (
            f"its cable is right and its name is not: by its PCI address it is what other hosts have as rail {slot + 1}"
        )
        return failed(RAIL, placed.hca.name, seen, where, source, cause=cause, remedy=_RENAME)
    of = _rails(known, placed.leaf)
    cause = f"its cable leads to {here}, a leaf of {of}"
    other = next((two for two in beside if _crossed(placed, two, known)), None)
    if other is not None:
        cause = f"the cables of {placed.hca.name} and {other.hca.name} are swapped: {cause}"
    return failed(RAIL, placed.hca.name, seen, where, source, cause=cause)


def _crossed(placed: Placed, two: Placed, known: Design) -> bool:
    if placed.hca == two.hca:
        return False
    return placed.hca.rail in known.rails[two.leaf] and two.hca.rail in known.rails[placed.leaf]


def _rails(known: Design, leaf: Leaf) -> str:
    numbers = ", ".join(str(rail + 1) for rail in sorted(known.rails[leaf]))
    return f"rail {numbers}"
