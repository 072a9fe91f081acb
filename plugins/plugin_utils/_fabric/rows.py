# SPDX-License-Identifier: GPL-3.0-or-later
"""A judged fabric as JSON: its nodes and links for whoever draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ...module_utils._ground.check import FAIL, Check, sentence, verdict
from . import check_errors, check_links
from .model import LEAF, End, Fabric

OK = "ok"
_SLOW = (check_links.WIDTH, check_links.SPEED, check_links.GENERATION)
_DOWN = (check_links.STATE, check_links.TRAINING)


def fabric(fabric: Fabric, checks: Sequence[Check], bad: Mapping[End, str], other: Fabric) -> dict[str, Any]:
    """One element of report["fabric"]["fabrics"]; ``bad``: ends of cables that are misplaced. ``other``: the same
    fabric as another host saw it: where the two see an adapter on different leaves, its leaf is not known.
    """
    return {
        "name": fabric.name,
        "asked": ", ".join(dict.fromkeys((fabric.asked, other.asked))),
        "verdict": verdict(checks),
        "checks": [check.to_dict() for check in checks],
        "nodes": _nodes(fabric, _leaves(fabric).items() & _leaves(other).items()),
        "links": _links(fabric, checks, bad),
    }


def _leaves(fabric: Fabric) -> dict[str, str]:
    """The leaf of every node that is on one."""
    leaves: dict[str, str] = {}
    for end, far in fabric.far.items():
        if fabric.nodes[far.guid].level == LEAF:
            leaves.setdefault(end.guid, far.guid)
    return leaves


def _nodes(fabric: Fabric, agreed: Set[tuple[str, str]]) -> list[dict[str, Any]]:
    hcas = {end.guid: hca for end, hca in fabric.hcas.items()}
    leaves = dict(agreed)
    rows = []
    for node in fabric.nodes.values():
        hca = hcas.get(node.guid)
        rows.append(
            {
                "guid": f"0x{node.guid:0>16}",
                "name": node.name,
                "type": node.type,
                "host": hca.host if hca is not None else "",
                "hca": hca.name if hca is not None else "",
                "rail": hca.rail + 1 if hca is not None else None,
                "level": node.level,
                "leaf": f"0x{leaves[node.guid]:0>16}" if not node.level and node.guid in leaves else "",
            }
        )
    return rows


def _links(fabric: Fabric, checks: Sequence[Check], bad: Mapping[End, str]) -> list[dict[str, Any]]:
    """Every cable that both ends see, and what is wrong with it; a port without one has no row."""
    slow = {check.subject: check for check in checks if check.result == FAIL and check.id in _SLOW}
    down = {check.subject: check for check in checks if check.result == FAIL and check.id in _DOWN}
    errors = {check.subject: check for check in checks if check.result == FAIL and check.id == check_errors.ERRORS}
    rows = []
    for cable in fabric.cables:
        state, why = OK, ""
        name = fabric.cable_name(cable)
        ends = [fabric.end_name(end) for end in (cable.a, cable.b)]
        turned = f"{ends[1]} - {ends[0]}"
        idle = down.get(name) or down.get(turned)
        counted = errors.get(ends[0]) or errors.get(ends[1])
        if idle is not None:
            state, why = "down", sentence(idle)
        elif cable.a in bad or cable.b in bad:
            state, why = "miscabled", bad.get(cable.a) or bad[cable.b]
        elif name in slow:
            state, why = "slow", sentence(slow[name])
        elif counted is not None:
            state, why = "errors", sentence(counted)
        rows.append(
            {
                "a": f"0x{cable.a.guid:0>16}",
                "a_port": cable.a.port,
                "b": f"0x{cable.b.guid:0>16}",
                "b_port": cable.b.port,
                "width": cable.width,
                "speed": cable.speed,
                "gbps": cable.gbps,
                "state": state,
                "why": why,
            }
        )
    return rows
