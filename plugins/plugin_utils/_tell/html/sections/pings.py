# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reached whom: a heat map for each rail, the sample in words, and the single pings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ...._ground.dicts import as_dict, as_list
from ...picture import pings
from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech

# More pings than these nobody reads here: the JSON report has all.
PINGS = 150
_EACH = ("host", "leaf", "group")


@dataclass(frozen=True)
class Matrix:
    """One rail; ``picture`` None where its matrix has another shape."""

    rail: str
    picture: Markup | None = None
    each: str = "host"
    tested: int = 0
    every: int = 0
    bad: int = 0

    @property
    def odd(self) -> bool:
        """Whether a pair lost pings, or nothing of it can be told."""
        return self.picture is None or bool(self.bad)


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """Says so where no pings were planned."""
    every = run.get("pings") or []
    names = _names(run)
    raw = [_named(as_dict(entry), names) for entry in as_list(run.get("ping_matrix"))]
    # All rails share the cells that are told one by one.
    most = max(20, pings.CELLS // max(1, 2 * len(raw)))
    matrices = [_matrix(entry, number, most) for number, entry in enumerate(raw)]
    html = environment.render(
        "sections/pings.html.j2",
        t,
        matrices=matrices,
        sample=as_dict(run.get("ping_coverage")),
        pings=_shown(every),
        every=len(every),
    )
    odd = sum(map(_is_odd, every))
    says = t("pings.says", n=len(every), odd=odd) if every else t("pings.nobody")
    return Section("pings", t("pings.title"), html, says, bool(odd or any(item.odd for item in matrices)))


def _names(run: Mapping[str, Any]) -> dict[str, str]:
    """What people call the switches of the run's fabrics, by GUID."""
    fabrics = as_list(as_dict(run.get("fabric")).get("fabrics"))
    nodes = (as_dict(node) for entry in fabrics for node in as_list(as_dict(entry).get("nodes")))
    return {str(node.get("guid")): str(node["name"]) for node in nodes if node.get("name")}


def _named(raw: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    return {**raw, "rows": [names.get(str(row), row) for row in as_list(raw.get("rows"))]}


def _matrix(raw: Mapping[str, Any], number: int, most: int) -> Matrix:
    square = pings.read(raw)
    if square is None:
        return Matrix(str(raw.get("rail") or ""))
    side = range(len(square.rows))
    return Matrix(
        square.rail,
        Markup(pings.draw(square, f"r{number}", most)),
        square.by if square.by in _EACH else "host",
        sum(map(sum, square.tested)),
        sum(square.pairs(row, column) for row in side for column in side),
        sum(map(sum, square.bad)),
    )


def _shown(every: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """All pings where they are few, else those in which something is wrong or missing."""
    if len(every) <= PINGS:
        return every
    return [entry for entry in every if _is_odd(entry)][:PINGS]


def _is_odd(entry: Mapping[str, Any]) -> bool:
    return bool(entry["untested"]) or not entry["sent"] or entry["received"] < entry["sent"]
