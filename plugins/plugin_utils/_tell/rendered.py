# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run object is rendered to: how the files are called, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from .._answers import apart
from .._ground import files
from . import render_junit, render_markdown, render_prometheus
from .html import page

NAME = "ibready-report"
# Of a run that --limit held to some of the hosts.
LIMITED = "ibready-report-limited"
JSON = ".json"

METRICS = "prometheus"

T = TypeVar("T")
_NO_FACTS: Mapping[str, Any] = {"node": {}, "ib": None}
Render = Callable[[Mapping[str, Any]], str]
# By the word of ibready_report_formats: how the file's name ends, and what renders it.
FORMATS: Mapping[str, tuple[str, Render]] = {
    "html": (".html", page.render),
    "junit": (".xml", render_junit.render),
    METRICS: (".prom", render_prometheus.render),
    "markdown": (".md", render_markdown.render),
}


def render(run: Mapping[str, Any], formats: Collection[str]) -> dict[str, str]:
    """The texts, by format."""
    return {name: entry(run) for name, (_unused, entry) in FORMATS.items() if name in formats}


def surely(make: Callable[[Mapping[str, Any]], T], run: Mapping[str, Any], warn: Callable[[str], Any]) -> T:
    """What is made of a run; where facts of a host keep it from that, of verdicts and checks."""
    try:
        return make(run)
    except Exception as exc:
        why = apart.why(exc, "what the hosts told of themselves")
        warn(f"a report is made without the facts of any host: {why}")
    hosts = {name: {**host, "facts": _NO_FACTS} for name, host in run["hosts"].items()}
    return make({**run, "hosts": hosts})


def write(stem: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Write each as ``stem`` with its ending, whole or not at all; the paths. Raises OSError."""
    paths = {}
    for name, text in texts.items():
        path = stem.with_name(stem.name + FORMATS[name][0])
        # What UTF-8 cannot hold came from a host: it costs a character, not the report.
        files.write_whole(path, text.encode(errors="replace"))
        paths[name] = str(path.resolve())
    return paths
