# SPDX-License-Identifier: GPL-3.0-or-later
"""The example dashboard and alerts ask for metrics, labels and values that ibready writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._agent import metrics
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import Family
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_prometheus
from tests.unit import runs

DOCS = Path(__file__).parents[2] / "docs"
METRIC = re.compile(r"\b(ibready_[a-z_]+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'([a-z_]+)(?:=|=~)"([^"]*)"')
BY = re.compile(r"by \(([^)]*)\) \((ibready_[a-z_]+)")
SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}")
# Prometheus itself adds it.
OWN = {"instance"}


def families() -> dict[str, Family]:
    """Every metric, of runs and looks in which each has a sample."""
    listened = changed.Reported()
    listened.begin(runs.NOW)
    run = runs.run(runs.MIXED, listened=listened, fabric=runs.fabric(runs.check()))
    return {one.name: one for one in (*render_prometheus.families(run), *of_agent())}


def of_agent() -> list[Family]:
    return metrics.of_look(Look("n1", ("ib",), (runs.check("fail"),)))


KNOWN = families()


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DOCS / "grafana-dashboard.json").read_text())["panels"]
    return found


def rules() -> list[dict[str, Any]]:
    read = yaml.safe_load((DOCS / "prometheus-alerts.yml").read_text())
    return [rule for group in read["groups"] for rule in group["rules"]]


ASKED = [
    *((target["expr"], target["legendFormat"]) for one in panels() for target in one["targets"]),
    *((rule["expr"], rule["annotations"]["summary"]) for rule in rules()),
]


@pytest.mark.parametrize(("expr", "shown"), ASKED)
def test_what_is_asked_for_is_written(expr: str, shown: str) -> None:
    asked = METRIC.findall(expr)
    assert asked
    labels: set[str] = set()
    for name, matchers in asked:
        assert name in KNOWN, name
        samples = KNOWN[name].samples
        assert samples, f"{name} has no sample to compare with"
        labels |= {label for sample, _ in samples for label in sample}
        for label, value in MATCHER.findall(matchers):
            written = {sample[label] for sample, _ in samples if label in sample}
            wanted = set(value.split("|"))
            assert wanted & written, f"{label}={value}"
    for names, name in BY.findall(expr):
        for label in names.split(", "):
            assert label in OWN or any(label in sample for sample, _ in KNOWN[name].samples)
    assert set(SHOWN.findall(shown)) - {"value"} <= labels | OWN


def test_every_metric_of_a_run_is_in_the_documentation() -> None:
    text = (DOCS / "run.md").read_text()
    for name in KNOWN:
        if name.startswith(render_prometheus.PREFIX):
            assert f"`{name}" in text, name
