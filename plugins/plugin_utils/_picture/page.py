# SPDX-License-Identifier: GPL-3.0-or-later
"""What the report's page shows of fabric and pings: pictures, and words where there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict, as_list
from ansible_collections.ibready.cluster.plugins.plugin_utils._picture import (
    fabric_leaves,
    fabric_nodes,
    model,
    pings,
    ports,
    svg,
)

_NOT_ASKED = (
    "Nobody asked the fabric in this run, so its switches and cables are not shown. "
    "Next: playbooks/fabric.yml."
)
_NOT_PINGED = "No pings were planned in this run, so no matrix is shown."
# Links in words, below a picture.
LINKS = 50


@dataclass(frozen=True)
class Section:
    """``pictures``: SVG, safe as it is; all else is a foreign text, to be escaped by the page."""

    title: str
    notes: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    verdict: str = ""
    checks: list[Mapping[str, Any]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0


def sections(report: Mapping[str, Any]) -> list[Section]:
    """Every fabric, then every rail."""
    return [*_fabrics(report), *_pings(report)]


def _fabrics(report: Mapping[str, Any]) -> list[Section]:
    if "fabric" not in report:
        return [Section("Fabric", [_NOT_ASKED])]
    told = as_dict(report["fabric"])
    error = str(told.get("error") or "")
    found = [
        _fabric(as_dict(raw), number) for number, raw in enumerate(as_list(told.get("fabrics")))
    ]
    if error or not found:
        why = error or "no fabric was found"
        return [Section("Fabric", [f"The fabric is not known: {why}"], verdict="unknown"), *found]
    return found


def _fabric(raw: Mapping[str, Any], number: int) -> Section:
    one = model.read(raw)
    whole = fabric_nodes.fits(one)
    draw = fabric_nodes.draw if whole else fabric_leaves.draw
    wrong = sorted(
        (link for link in one.links if link.state != svg.OK),
        key=lambda link: svg.ORDER.index(link.state),
    )
    checks = (as_dict(check) for check in as_list(raw.get("checks")))
    notes = [f"Asked of {raw.get('asked') or 'a host that is not told'}."]
    notes.append(
        f"{sum(node.is_switch for node in one.nodes.values()):,} switches, "
        f"{sum(not node.is_switch for node in one.nodes.values()):,} adapters, "
        f"{len(one.links):,} links, {len(wrong):,} of them not as they should be."
    )
    pictures = [draw(one, f"f{number}"), ports.draw(one, f"p{number}")] if one.nodes else []
    if not one.nodes:
        notes.append("It told of no node, so there is nothing to draw.")
    return Section(
        f"Fabric {one.name}".rstrip(),
        notes,
        pictures,
        str(raw.get("verdict") or "unknown"),
        [one for one in checks if one.get("result") in ("fail", "unknown")],
        [(link.state, one.said(link)) for link in wrong[:LINKS]],
        max(0, len(wrong) - LINKS),
    )


def _pings(report: Mapping[str, Any]) -> list[Section]:
    raw = [as_dict(one) for one in as_list(report.get("ping_matrix"))]
    if not raw:
        return [Section("Ping matrix", [_NOT_PINGED])]
    found = []
    for number, one in enumerate(raw):
        title = f"Pings on rail {one.get('rail')}"
        square = pings.read(one)
        if square is None:
            found.append(Section(title, ["The matrix of this rail cannot be read."]))
            continue
        found.append(Section(title, [_tested(square)], [pings.draw(square, f"r{number}")]))
    return found


def _tested(square: pings.Square) -> str:
    side = range(len(square.rows))
    every = sum(square.pairs(row, column) for row in side for column in side)
    tested = sum(map(sum, square.tested))
    bad = sum(map(sum, square.bad))
    each = {"leaf": "leaf switch", "group": "group of hosts"}.get(square.by, square.by or "host")
    return (
        f"A row and a column for each {each}; {tested:,} of {every:,} pairs were tested, "
        f"{bad:,} of them lost pings. Darker is slower."
    )
