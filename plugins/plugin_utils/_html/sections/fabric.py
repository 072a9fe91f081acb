# SPDX-License-Identifier: GPL-3.0-or-later
"""Every fabric of the run: its verdict, pictures, findings, and the links that are not well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import as_dict, as_list
from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech
from ansible_collections.ibready.cluster.plugins.plugin_utils._picture import (
    fabric_leaves,
    fabric_nodes,
    model,
    ports,
    svg,
)

# Links in words, below a picture.
LINKS = 50


@dataclass(frozen=True)
class Drawn:
    """One fabric; ``pictures`` escape what is foreign in them."""

    name: str
    verdict: str
    asked: str
    switches: int
    adapters: int
    links: int
    pictures: list[Markup]
    checks: list[Mapping[str, Any]]
    wrong: list[tuple[str, str]]
    wrongs: int


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """Says so where nobody asked a fabric: its absence is no good sign."""
    told = as_dict(run.get("fabric"))
    asked = run.get("fabric") is not None
    drawn = [
        _drawn(as_dict(raw), number) for number, raw in enumerate(as_list(told.get("fabrics")))
    ]
    html = environment.render(
        "sections/fabric.html.j2",
        t,
        asked=asked,
        error=str(told.get("error") or ""),
        skipped=str(told.get("skipped") or ""),
        fabrics=drawn,
    )
    return Section("fabric", t("fabric.title"), html)


def _drawn(raw: Mapping[str, Any], number: int) -> Drawn:
    one = model.read(raw)
    draw = fabric_nodes.draw if fabric_nodes.fits(one) else fabric_leaves.draw
    drawn = [draw(one, f"f{number}"), ports.draw(one, f"p{number}")] if one.nodes else []
    wrong = sorted(
        (link for link in one.links if link.state != svg.OK),
        key=lambda link: svg.ORDER.index(link.state),
    )
    checks = (as_dict(check) for check in as_list(raw.get("checks")))
    switches = sum(node.is_switch for node in one.nodes.values())
    return Drawn(
        one.name,
        str(raw.get("verdict") or "unknown"),
        str(raw.get("asked") or ""),
        switches,
        len(one.nodes) - switches,
        len(one.links),
        [Markup(picture) for picture in drawn],
        [check for check in checks if check.get("result") in ("fail", "unknown")],
        [(link.state, one.said(link)) for link in wrong[:LINKS]],
        len(wrong),
    )
