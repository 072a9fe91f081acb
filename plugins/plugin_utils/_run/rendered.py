# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run object is rendered to: how the files are called, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import (
    _files,
    _render_junit,
    _render_markdown,
    _render_prometheus,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._html import page

NAME = "ibready-report"
JSON = ".json"

Render = Callable[[Mapping[str, Any]], str]
# By the word of ibready_report_formats: how the file's name ends, and what renders it.
FORMATS: Mapping[str, tuple[str, Render]] = {
    "html": (".html", page.render),
    "junit": (".xml", _render_junit.render),
    "prometheus": (".prom", _render_prometheus.render),
    "markdown": (".md", _render_markdown.render),
}


def render(run: Mapping[str, Any], formats: Collection[str]) -> dict[str, str]:
    """The texts, by format."""
    return {name: one(run) for name, (_, one) in FORMATS.items() if name in formats}


def write(stem: Path, texts: Mapping[str, str]) -> dict[str, str]:
    """Write each as ``stem`` with its ending, whole or not at all; the paths. Raises OSError."""
    paths = {}
    for name, text in texts.items():
        path = stem.with_name(stem.name + FORMATS[name][0])
        # What UTF-8 cannot hold came from a host: it costs a character, not the report.
        _files.write_whole(path, text.encode(errors="replace"))
        paths[name] = str(path.resolve())
    return paths
