# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the switches are joined alike: uplinks, a spine that is gone, what a leaf can carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...module_utils._expect.expectations import CAPABILITY, INVENTORY
from ...module_utils._ground.check import Check, failed, skipped
from ...module_utils._ground.link import gbps
from ...module_utils._parse._topology import CA
from .check_hcas import AGGREGATION
from .design import NOTHING, Wanted
from .model import CORE, HEIGHT, LANE_GBPS, LEAF, SPINE, Cable, End, Fabric
from .say import majority, settled, some

UPLINKS = "fabric.leaf.uplinks"
SUBSCRIBED = "fabric.leaf.subscription"
PATH = "fabric.path.speed"
SPINES = "fabric.spine.present"
SHAPE_CHECKS = (UPLINKS, SUBSCRIBED, PATH, SPINES)


def judge(
    fabric: Fabric, partial: str, *, most: float | None, lost: Mapping[str, int], wanted: Wanted = NOTHING
) -> list[Check]:
    """``most``: what the inventory lets down to up bandwidth of a leaf be. ``lost``: ports of each
    leaf that were up once and are not, where HCAs do not account for them. ``wanted``: the design."""
    leaves = fabric.switches(LEAF)
    up = uplinks(fabric)
    if not any(up.get(leaf.guid) for leaf in leaves):
        why = "one level of switches: no leaf has an uplink"
        checks = [skipped(shape_check, fabric.name, why) for shape_check in SHAPE_CHECKS]
        if not wanted.uplinks:
            return checks
        mends = "cable the uplinks that ibready_fabric_design says, or correct it"
        wants = f"{wanted.uplinks} of each leaf"
        none = failed(UPLINKS, fabric.name, "no uplink", wants, INVENTORY, cause=why, remedy=mends)
        return [*settled(UPLINKS, fabric.name, [none], "", "", partial=partial, of_absence=True), *checks[1:]]
    total = f"{len(leaves)} leaves, {sum(map(len, up.values()))} uplinks"
    return [
        *settled(
            *(UPLINKS, fabric.name, _fewer(fabric, up, wanted), total, "as many as the others"),
            partial=partial,
            of_absence=True,
        ),
        *_subscription(fabric, up, most, partial),
        *settled(*(PATH, fabric.name, _narrowing(fabric, up), total, "as fast as the HCAs below"), partial=partial),
        *settled(*(SPINES, fabric.name, _spines(fabric, lost), total, "all spines"), partial=partial),
    ]


def uplinks(fabric: Fabric) -> dict[str, list[Cable]]:
    """The cables of leaves and spines that lead up; ``a`` is the lower end."""
    found: dict[str, list[Cable]] = {}
    for cable in fabric.cables:
        low, high = (HEIGHT.get(fabric.nodes[end.guid].level, 0) for end in (cable.a, cable.b))
        if 0 < low < high:
            found.setdefault(cable.a.guid, []).append(cable)
    return found


def _fewer(fabric: Fabric, up: Mapping[str, list[Cable]], wanted: Wanted) -> list[Check]:
    """Leaves, and spines below core switches, with fewer cables up than the design or most of their level."""
    wrong: list[Check] = []
    for level, promised, links in (
        (LEAF, _promised(fabric, SPINE, wanted.uplinks, wanted.spines, wanted.pair_links), wanted.pair_links),
        (SPINE, _promised(fabric, CORE, wanted.spine_uplinks, wanted.cores, None), None),
    ):
        mine = fabric.switches(level)
        counts = {node.guid: len(up.get(node.guid, ())) for node in mine}
        pairs = {(cable.a.guid, cable.b.guid) for node in mine for cable in up.get(node.guid, ())}
        most = majority(counts.values()) or _of_pairs(fabric, up, [entry.guid for entry in mine])
        usual, source = (most[0], f"fleet {most[1]}/{most[2]}") if most is not None else (0, "")
        if promised > usual:
            usual, source = promised, INVENTORY
        for node in mine:
            count = counts[node.guid]
            if count < usual:
                cause = _lacking(fabric, node.guid, up, pairs, links)
                name = node.name or node.guid
                wrong.append(failed(UPLINKS, name, f"{count} uplinks", f"{usual}", source, cause=cause))
    return wrong


def _promised(fabric: Fabric, above: str, links: int | None, switches: int | None, pair: int | None) -> int:
    """The uplinks that the design gives a switch, without those to switches that are missing as a whole.

    fabric.design.switches tells of these: one dead spine is not to be said by every leaf.
    """
    missing = max(0, (switches or 0) - len(fabric.switches(above)))
    if not links or (missing and not pair):
        return 0
    return max(0, links - missing * (pair or 0))


def _of_pairs(fabric: Fabric, up: Mapping[str, list[Cable]], mine: list[str]) -> tuple[int, int, int] | None:
    """Of two switches that differ, what they would have if every pair were joined like most."""
    above = {cable.b.guid for entry in mine for cable in up.get(entry, ())}
    joined = Counter((cable.a.guid, cable.b.guid) for entry in mine for cable in up.get(entry, ()))
    most = majority(joined.get((low, high), 0) for low in mine for high in above)
    return None if most is None else (most[0] * len(above), most[1], most[2])


def _lacking(
    fabric: Fabric, switch: str, up: Mapping[str, list[Cable]], pairs: set[tuple[str, str]], each: int | None
) -> str:
    """Which switch above it reaches with fewer cables than its equals do, or than ``each`` of the design."""
    mine = Counter(cable.b.guid for cable in up.get(switch, ()))
    # Of several pods its own: those that share most of what it still reaches.
    shared = Counter(low for low, high in pairs if high in mine)
    equals = {low for low, _high in pairs if 2 * shared[low] >= len(mine)} - {switch}
    theirs = Counter(cable.b.guid for equal in equals for cable in up.get(equal, ()))
    reach = Counter(high for low, high in pairs if low in equals)
    near = [
        f"{fabric.node_name(high)} ({mine[high]} of {each or count // reach[high]})"
        for high, count in sorted(theirs.items())
        if mine[high] * reach[high] < count and 2 * reach[high] > len(equals)
    ]
    if not near and each:
        few = sorted(high for high, count in mine.items() if count < each)
        near = [f"{fabric.node_name(high)} ({mine[high]} of {each})" for high in few]
    where = f" to {some(near)}" if near else ""
    ports = _down_like(fabric, switch, {cable.a.port for equal in equals for cable in up[equal]})
    at = f"; port {some(map(str, ports))} is Down, and an uplink of others" if ports else ""
    return f"cables{where} are missing or dead{at}"


def _down_like(fabric: Fabric, switch: str, numbers: set[int]) -> list[int]:
    lines = ((number, fabric.lines.get(End(switch, number))) for number in sorted(numbers))
    return [number for number, line in lines if line is not None and line.state == "Down"]


def _subscription(fabric: Fabric, up: Mapping[str, list[Cable]], most: float | None, partial: str) -> list[Check]:
    """Down to up bandwidth of every leaf; all adapters count, whoever told of them."""
    down: dict[str, float] = {}
    for cable in fabric.cables:
        node = fabric.nodes[cable.a.guid]
        if node.type == CA and not node.name.startswith(AGGREGATION):
            down[cable.b.guid] = down.get(cable.b.guid, 0.0) + cable.gbps
    ratios = {}
    for leaf in fabric.switches(LEAF):
        above = sum(cable.gbps for cable in up.get(leaf.guid, ()))
        if down.get(leaf.guid) and above:
            ratios[leaf] = (down[leaf.guid] / above, down[leaf.guid], above)
    if not ratios:
        return [skipped(SUBSCRIBED, fabric.name, "no leaf has HCAs and uplinks of known speed")]
    worst = max(ratios.values())[0]
    if most is None:
        why = f"ibready_fabric_oversubscription says nothing; it is {worst:.3g}:1 at most"
        return [skipped(SUBSCRIBED, fabric.name, why)]
    wrong = [
        failed(
            *(SUBSCRIBED, leaf.name or leaf.guid),
            f"{ratio:.3g}:1 ({gbps(below)} down, {gbps(above)} up)",
            *(f"at most {most:g}:1", INVENTORY),
        )
        for leaf, (ratio, below, above) in ratios.items()
        if ratio > most * 1.001
    ]
    seen = f"{worst:.3g}:1 at most"
    return settled(*(SUBSCRIBED, fabric.name, wrong, seen, f"at most {most:g}:1"), partial=partial, source=INVENTORY)


def _narrowing(fabric: Fabric, up: Mapping[str, list[Cable]]) -> list[Check]:
    """Leaves with an HCA that is faster than every one of their uplinks."""
    fastest: dict[str, tuple[float, Cable]] = {}
    for cable in fabric.cables:
        if cable.a in fabric.hcas and cable.gbps > fastest.get(cable.b.guid, (0.0, cable))[0]:
            fastest[cable.b.guid] = (cable.gbps, cable)
    wrong = []
    for leaf in fabric.switches(LEAF):
        above = max(map(_whole, up.get(leaf.guid, ())), default=0.0)
        if leaf.guid not in fastest:
            continue
        below, cable = fastest[leaf.guid]
        if 0 < above < below:
            cause = f"{fabric.end_name(cable.a)} runs at {gbps(below)}, and no uplink does"
            expected = gbps(below)
            wrong.append(
                failed(*(PATH, leaf.name or leaf.guid, f"{gbps(above)} up", expected, CAPABILITY), cause=cause)
            )
    return wrong


def _whole(cable: Cable) -> float:
    """Its data rate with four lanes: one that has lost some is told by its width."""
    return max(cable.gbps, 4 * LANE_GBPS.get(cable.speed, 0.0))


def _spines(fabric: Fabric, lost: Mapping[str, int]) -> list[Check]:
    """All leaves lost equally many ports: what they had in common is gone."""
    leaves = fabric.switches(LEAF)
    counts = {lost.get(leaf.guid, 0) for leaf in leaves}
    if len(leaves) < 2 or len(counts) != 1 or counts == {0}:
        return []
    each = counts.pop()
    cause = (
        f"on each of {len(leaves)} leaves {each} ports were up once (LinkDownedCounter) and are "
        "Down: a spine is dead, or was taken away"
    )
    return [failed(SPINES, fabric.name, f"{len(fabric.switches(SPINE))} spines", "all spines", CAPABILITY, cause=cause)]
