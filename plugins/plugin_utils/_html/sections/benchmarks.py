# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench.yml measured, of its own date."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._html import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.models import benchmarks
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.section import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where nobody ever measured."""
    told = benchmarks.read(run)
    if told is None:
        return None
    html = environment.render("sections/benchmarks.html.j2", t, told=told)
    return Section("benchmarks", t("benchmarks.title"), html)
