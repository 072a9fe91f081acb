# SPDX-License-Identifier: GPL-3.0-or-later
"""Uplinks of leaves that were up once and are Down: the trace of a switch that is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import LINK_DOWNED
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import check_errors
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import (
    LEAF,
    End,
    Fabric,
    Inventory,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.read import Seen


def uplinks(fabric: Fabric, look: Seen, inventory: Inventory) -> dict[str, int]:
    """How many of each leaf; none where missing HCAs account for them, or those of hosts that told
    nothing may.

    A port that is nearer to those of adapters was a host's that is in no inventory any more.
    """
    told = look.again.value
    here = set(fabric.hcas.values())
    if told is None or told.facts is None or inventory.silent:
        return {}
    if any(one not in here for one in inventory.rails):
        return {}
    downs = check_errors.NAMES[LINK_DOWNED]
    up: dict[str, list[int]] = {leaf.guid: [] for leaf in fabric.switches(LEAF)}
    down: dict[str, list[int]] = {leaf: [] for leaf in up}
    for end, far in fabric.far.items():
        if end.guid in up:
            (up if fabric.nodes[far.guid].level else down)[end.guid].append(end.port)
    found: dict[str, int] = {}
    for end, values in check_errors.by_port(fabric, told.facts).items():
        line = fabric.lines.get(end)
        was_up = any(values.get(name) for name in downs)
        if end.guid not in up or not was_up or line is None or line.state != "Down":
            continue
        if not _of_adapters(end, up[end.guid], down[end.guid]):
            found[end.guid] = found.get(end.guid, 0) + 1
    return found


def _of_adapters(end: End, up: Sequence[int], down: Sequence[int]) -> bool:
    return bool(up and down) and _away(end, down) < _away(end, up)


def _away(end: End, ports: Sequence[int]) -> int:
    return min(abs(port - end.port) for port in ports)
