# SPDX-License-Identifier: GPL-3.0-or-later
"""The waivers of the site: used, not used and expired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where the site has none."""
    told = plan.waivers(run)
    if told is None:
        return None
    html = environment.render("sections/waivers.html.j2", t, told=told)
    return Section("waivers", t("waivers.title"), html)
