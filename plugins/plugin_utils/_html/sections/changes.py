# SPDX-License-Identifier: GPL-3.0-or-later
"""What this run changed on hosts, task by task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import since
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where nobody listened; docs/run.md tells how to."""
    told = since.changes(run)
    if told is None:
        return None
    html = environment.render("sections/changes.html.j2", t, told=told)
    return Section("changes", t("changes.title"), html)
