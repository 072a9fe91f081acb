# SPDX-License-Identifier: GPL-3.0-or-later
"""The rails of every class of equal hosts: each port's state, rate and GID, odd ones first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import rails
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech
from ansible_collections.ibready.cluster.plugins.plugin_utils._picture import rails as picture
from ansible_collections.ibready.cluster.plugins.plugin_utils._picture import svg

# What a cell looks like, and its sign.
LEGEND = tuple((look, sign) for look, (_, sign) in picture.LOOKS.items() if look)
_SIGNS = dict(LEGEND)


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None for a run without hosts."""
    told = rails.read(run)
    if not told.maps and not told.unseen.shown:
        return None
    html = environment.render(
        "sections/rails.html.j2",
        t,
        maps=[(one, _picture(one, number)) for number, one in enumerate(told.maps)],
        unseen=told.unseen,
        more=told.more_maps,
        legend=LEGEND,
        sign=_SIGNS,
    )
    return Section("rails", t("rails.title"), html)


def _picture(one: rails.Map, number: int) -> Markup | None:
    """Of hosts that have no row each."""
    if len(one.hosts) <= rails.EACH:
        return None
    label = svg.said("picture.rails", name=one.name)
    return Markup(picture.draw(one.hosts, one.rails, one.looks, label, f"rails{number}"))
