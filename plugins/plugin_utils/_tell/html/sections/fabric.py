# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fabric of the run: its verdict, pictures, findings, and the links that are not well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from .....module_utils._ground.check import READY
from ...._ground.dicts import as_dict, as_list
from ...picture import fabric_leaves, fabric_nodes, model, ports, svg
from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech

# Links in words, below a picture.
LINKS = 50


@dataclass(frozen=True)
class Drawn:
    """One fabric; pictures escape what is foreign in them. ``odd``: of the switches with links that are not well."""

    name: str
    verdict: str
    asked: str
    switches: int
    adapters: int
    links: int
    picture: Markup | None
    odd: Markup | None
    checks: list[Mapping[str, Any]]
    wrong: list[tuple[str, str]]
    wrongs: int


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """Says so where nobody asked a fabric: its absence is no good sign."""
    reported = as_dict(run.get("fabric"))
    asked = run.get("fabric") is not None
    drawn = [_drawn(as_dict(raw), number) for number, raw in enumerate(as_list(reported.get("fabrics")))]
    html = environment.render(
        "sections/fabric.html.j2",
        t,
        asked=asked,
        error=str(reported.get("error") or ""),
        skipped=str(reported.get("skipped") or ""),
        fabrics=drawn,
    )
    totals = {name: sum(getattr(entry, name) for entry in drawn) for name in ("switches", "adapters", "links")}
    says = t("fabric.counts", **totals, wrong=sum(entry.wrongs for entry in drawn))
    odd = bool(reported.get("error")) or any(entry.verdict != READY or entry.wrongs for entry in drawn)
    if not drawn:
        skipped = bool(reported.get("skipped"))
        says = t("fabric.skipped" if skipped else "fabric.unknown" if asked else "fabric.nobody")
        odd = asked and not skipped
    return Section("fabric", t("fabric.title"), html, says, odd)


def _drawn(raw: Mapping[str, Any], number: int) -> Drawn:
    entry = model.read(raw)
    draw = fabric_nodes.draw if fabric_nodes.fits(entry) else fabric_leaves.draw
    wrong = sorted((link for link in entry.links if link.state != svg.OK), key=lambda link: svg.ORDER.index(link.state))
    checks = (as_dict(check) for check in as_list(raw.get("checks")))
    switches = sum(node.is_switch for node in entry.nodes.values())
    return Drawn(
        entry.name,
        str(raw.get("verdict") or "unknown"),
        str(raw.get("asked") or ""),
        switches,
        len(entry.nodes) - switches,
        len(entry.links),
        Markup(draw(entry, f"f{number}")) if entry.nodes else None,
        Markup(ports.draw(entry, f"p{number}")) if wrong else None,
        [check for check in checks if check.get("result") in ("fail", "unknown")],
        [(link.state, entry.said(link)) for link in wrong[:LINKS]],
        len(wrong),
    )
