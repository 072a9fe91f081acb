# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as one self-contained HTML page: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ansible_collections.ibready.cluster.plugins.plugin_utils import _summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._picture import page
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import coverage

# More pings than these nobody reads: the JSON report has all.
_PINGS = 1000


def render(report: Mapping[str, Any]) -> str:
    """Every text is escaped: names and outputs come from the hosts; pictures escape their own."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pings = _summary.pings_by_host(report["pings"])
    rows = [
        {
            "name": name,
            "host": host,
            "ports": _summary.ports(host),
            "sm": _summary.subnet_manager(host),
            "pings": _summary.pings(pings.get(name, [])),
            "counts": _summary.counts(host),
        }
        for name, host in report["hosts"].items()
    ]
    return environment.get_template("report.html.j2").render(
        report=report,
        rows=rows,
        sections=page.sections(report),
        pings=_shown(report["pings"]),
        sample=coverage.sentence(report.get("ping_coverage")),
    )


def _shown(pings: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """All pings where they are few, else those in which something is wrong or missing."""
    if len(pings) <= _PINGS:
        return pings
    return [one for one in pings if one["untested"] or one["received"] < one["sent"]][:_PINGS]
