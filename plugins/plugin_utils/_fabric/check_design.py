# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the fabric has the switches of its design, and whether each one's uplinks part evenly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...module_utils._expect.expectations import INVENTORY
from ...module_utils._ground.check import Check, failed, skipped, unknown
from .design import NAME, Wanted
from .model import CORE, LEAF, SPINE, Cable, Fabric, Node
from .say import majority, settled, some

SWITCHES = "fabric.design.switches"
SPREAD = "fabric.leaf.spread"
_PLURAL = {LEAF: "leaves", SPINE: "spines", CORE: "cores"}


def switches(fabric: Fabric, wanted: Wanted, partial: str) -> list[Check]:
    """How many leaves, spines and cores there are; unknown where it cannot be told which is which."""
    said = {LEAF: wanted.leaves, SPINE: wanted.spines, CORE: wanted.cores}
    counted = {level: count for level, count in said.items() if count is not None}
    if not counted:
        return [skipped(SWITCHES, fabric.name, f"{NAME} says no number of switches")]
    there = {level: fabric.switches(level) for level in said}
    seen = _told({level: len(there[level]) for level in counted})
    expected = _told(counted)
    missing = {level: count - len(there[level]) for level, count in counted.items()}
    short = sum(count for count in missing.values() if count > 0)
    # Without a word of the site on a level, nothing is expected there: a leaf without HCAs looks like a core.
    more = {level: len(there[level]) - (said[level] or 0) for level in said if said[level] is not None or level == CORE}
    strangers = [node for level, count in more.items() if count > 0 for node in there[level]]
    surplus = sum(count for count in more.values() if count > 0)
    if partial or not (short or any(missing.values())):
        return settled(SWITCHES, fabric.name, [], seen, expected, partial=partial, source=INVENTORY)
    if short and short <= surplus:
        return [unknown(SWITCHES, fabric.name, f"{seen}, not {expected}: {_roles(strangers)}")]
    cause = (
        f"{short - surplus} switches are off, cut off or not built" if short else "more switches than the design has"
    )
    if short and surplus:
        cause += f"; of others, {_roles(strangers)}"
    return [failed(SWITCHES, fabric.name, seen, expected, INVENTORY, cause=cause)]


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {_PLURAL[level]}" for level, count in counts.items())


def _roles(nodes: list[Node]) -> str:
    names = some(node.name or node.guid for node in nodes)
    return f"the level cannot be told (a leaf of which no HCA is up looks like a core): {names}"


def spread(fabric: Fabric, up: Mapping[str, list[Cable]], wanted: Wanted, partial: str) -> list[Check]:
    """Switches with fewer links to one above than its equals have, and more to another: a cable is misplaced.

    Too few links without a surplus elsewhere are what fabric.leaf.uplinks tells.
    """
    wrong: list[Check] = []
    held = 0
    for level, above, links in ((LEAF, SPINE, wanted.pair_links), (SPINE, CORE, None)):
        rows = {node: Counter(cable.b.guid for cable in up.get(node.guid, ())) for node in fabric.switches(level)}
        rows = {node: row for node, row in rows.items() if row}
        usual = majority(count for row in rows.values() for count in row.values())
        if not links and usual is None:
            continue
        each = links or (usual[0] if usual is not None else 0)
        source = INVENTORY if links else f"fleet {usual[1]}/{usual[2]}" if usual is not None else ""
        shared = Counter(frozenset(row) for row in rows.values())
        groups = sorted((group for group, many in shared.items() if many > 1), key=sorted)
        if links and wanted.cores == 0:
            groups = [frozenset(node.guid for node in fabric.switches(above))]
        for node, row in rows.items():
            home = max(groups, key=lambda group: len(group & set(row)), default=frozenset())
            if home and 2 * len(home & set(row)) >= len(home):
                held += 1
                wrong += _uneven(fabric, node, row, home, each, source, up[node.guid])
    if not held and not wrong:
        why = "no switch shares its neighbours above with another, or most pairs are not joined alike"
        return [skipped(SPREAD, fabric.name, why)] if not partial else [unknown(SPREAD, fabric.name, partial)]
    seen = f"{held} switches"
    return settled(SPREAD, fabric.name, wrong, seen, "links that part evenly", partial=partial, of_absence=True)


def _uneven(
    fabric: Fabric,
    node: Node,
    row: Counter[str],
    home: frozenset[str],
    each: int,
    source: str,
    cables: list[Cable],
) -> list[Check]:
    less = sorted(high for high in home if row[high] < each)
    more = sorted(high for high in row if row[high] > (each if high in home else 0))
    if not less or not more:
        return []
    few = some(f"{row[high]} of {each} links to {fabric.node_name(high)}" for high in less)
    many = some(f"{row[high]} to {fabric.node_name(high)}" for high in more)
    ports = some(f"{cable.a.port}" for cable in sorted(cables) if cable.b.guid in more)
    cause = f"a cable is plugged into another switch than those of its equals; ports {ports} lead to where too many do"
    return [failed(SPREAD, node.name or node.guid, f"{few}; {many}", f"{each} to each", source, cause=cause)]
