# SPDX-License-Identifier: GPL-3.0-or-later
"""The NVLinks of every class of equal hosts: GPUs by links, and what differs on which host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import nvlink
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech

LEGEND = (("ok", ""), ("fail", "X"), ("odd", "!"), ("unused", "o"), ("none", "-"))


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None for a run without hosts."""
    told = nvlink.read(run)
    if not (told.maps or told.unseen or told.without):
        return None
    html = environment.render("sections/nvlink.html.j2", t, told=told, legend=LEGEND)
    return Section("nvlink", t("nvlink.title"), html)
