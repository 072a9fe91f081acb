# SPDX-License-Identifier: GPL-3.0-or-later
"""The stack that was planned for each class of hosts, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where the run planned nothing, as verify.yml."""
    told = plan.read(run)
    if told is None:
        return None
    html = environment.render("sections/plan.html.j2", t, told=told)
    return Section("plan", t("plan.title"), html)
