# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of the stack: how many hosts have each, and which hosts have another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import stack
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech

# How a standing looks.
LOOKS = {stack.USUAL: "ok", stack.ODD: "fail", stack.SPLIT: "unknown"}


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where nobody told of any version."""
    found = stack.read(run)
    if not found:
        return None
    html = environment.render("sections/stack.html.j2", t, components=found, looks=LOOKS)
    return Section("stack", t("stack.title"), html)
