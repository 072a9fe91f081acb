# SPDX-License-Identifier: GPL-3.0-or-later
"""Who reached whom over TCP: how many did, and every way that is not well or was not tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import reach
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where no connection was planned."""
    told = reach.tcp(run)
    if told is None:
        return None
    html = environment.render(
        "sections/reach.html.j2", t, told=told, over="tcp", counts="tcp.counts"
    )
    return Section("tcp", t("tcp.title"), html)
