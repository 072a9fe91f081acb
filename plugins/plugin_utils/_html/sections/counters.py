# SPDX-License-Identifier: GPL-3.0-or-later
"""Port error counters as a heat map, by powers of ten: hosts with any, by port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import counters
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None for a run without hosts."""
    heat = counters.read(run)
    if not (heat.read or heat.none or heat.unread.shown):
        return None
    html = environment.render(
        "sections/counters.html.j2", t, heat=heat, shades=range(1, counters.SHADES)
    )
    return Section("counters", t("counters.title"), html)
