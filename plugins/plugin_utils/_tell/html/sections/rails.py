# SPDX-License-Identifier: GPL-3.0-or-later
"""The rails of every class of equal hosts: each port's state, rate and GID, odd ones first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ...picture import rails as picture, svg
from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech
from ..models import rails

# What a cell looks like, and its sign.
LEGEND = tuple((look, sign) for look, (_unused, sign) in picture.LOOKS.items() if look)
_SIGNS = dict(LEGEND)


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None for a run without hosts."""
    reported = rails.read(run)
    if not reported.maps and not reported.unseen.shown:
        return None
    html = environment.render(
        "sections/rails.html.j2",
        t,
        maps=[(entry, _picture(entry, number)) for number, entry in enumerate(reported.maps)],
        unseen=reported.unseen,
        more=reported.more_maps,
        legend=LEGEND,
        sign=_SIGNS,
    )
    odd = sum(entry.odd for entry in reported.maps) + reported.unseen.total
    every = sum(len(entry.hosts) for entry in reported.maps) + reported.unseen.total
    return Section("rails", t("rails.title"), html, t("rails.says", n=every, odd=odd), bool(odd))


def _picture(entry: rails.Map, number: int) -> Markup | None:
    """Of hosts that have no row each."""
    if len(entry.hosts) <= rails.EACH:
        return None
    label = svg.said("picture.rails", name=entry.name)
    return Markup(picture.draw(entry.hosts, entry.rails, entry.looks, label, f"rails{number}"))
