# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the switches offer SHARP: each puts an aggregation node of its own on the fabric."""

from __future__ import annotations

from collections import Counter

from ...module_utils._expect.expectations import INVENTORY
from ...module_utils._ground.check import Check, failed, passed, skipped, unknown
from ...module_utils._parse._topology import CA
from .check_hcas import AGGREGATION
from .model import CORE, LEAF, SPINE, Fabric
from .say import some

NODES = "fabric.sharp.nodes"
_EXPECTED = "an aggregation node on every switch whose equals have one"
_NONE = "no switch offers SHARP: opensm has it off (sharp_enabled), or the switches cannot do it"
_SOME = "SHARP is off on this switch (device_configuration_file of opensm, firmware), or its engine is dead"


def judge(fabric: Fabric, wanted: bool | None, partial: str) -> list[Check]:
    """``wanted``: whether jobs are to use SHARP; None where the inventory says nothing."""
    has = Counter(
        far.guid
        for end, far in fabric.far.items()
        if fabric.nodes[end.guid].type == CA and fabric.nodes[end.guid].name.startswith(AGGREGATION)
    )
    levels = {level: fabric.switches(level) for level in (LEAF, SPINE, CORE)}
    total = sum(map(len, levels.values()))
    seen = f"{sum(has.values())} aggregation nodes on {len(has)} of {total} switches"
    if not wanted:
        why = (
            "the inventory does not say (ibready_fabric_sharp)"
            if wanted is None
            else "the inventory does not want SHARP"
        )
        return [skipped(NODES, fabric.name, f"{why}: {seen}")]
    if partial:
        # What was cut off may be an aggregation node.
        return [unknown(NODES, fabric.name, partial, observed=seen)]
    if not has:
        return [failed(NODES, fabric.name, seen, _EXPECTED, INVENTORY, cause=_NONE)]
    found = []
    for level, switches in levels.items():
        without = [switch for switch in switches if not has[switch.guid]]
        equals = len(switches) - len(without)
        if without and equals:
            names = some(fabric.node_name(switch.guid) for switch in without)
            cause = f"{equals} of {len(switches)} switches of this level ({level}) have one: {_SOME}"
            found.append(failed(NODES, names, "no aggregation node", _EXPECTED, INVENTORY, cause=cause))
    return found or [passed(NODES, fabric.name, seen, _EXPECTED, INVENTORY)]
