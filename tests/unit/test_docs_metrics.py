# SPDX-License-Identifier: GPL-3.0-or-later
"""The example dashboard and alerts ask for metrics, labels and values that ibready writes."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._agent import metrics
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import Family
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_prometheus
from tests.gauntlet import render
from tests.unit import runs
from tests.unit.parsers import SAMPLES

DOCS = Path(__file__).parents[2] / "docs"
METRIC = re.compile(r"\b(ibready_[a-z_]+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'([a-z_]+)(?:=|=~)"([^"]*)"')
BY = re.compile(r"by \(([^)]*)\) \((?:rate\(|increase\()?(ibready_[a-z_]+)")
SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}")
# Prometheus itself adds it.
OWN = {"instance"}


def families() -> dict[str, Family]:
    """Every metric, of runs and looks in which each has a sample."""
    listened = changed.Reported()
    listened.begin(runs.NOW)
    run = runs.run(runs.MIXED, listened=listened, fabric=runs.fabric(runs.check()))
    return {one.name: one for one in (*render_prometheus.families(run), *of_agent())}


@cache
def carried() -> list[Family]:
    """What a healthy node with eight GPUs tells of its traffic."""
    node = render.render(render.node("hgx-h100-8"))
    for name in ("port_xmit_data", "port_rcv_data", "port_xmit_wait"):
        node.files[node._resolve(f"/sys/class/infiniband/mlx5_0/ports/1/counters/{name}")] = b"1000\n"
    for name in ("nvlink_throughput", "gpu_use"):
        node.commands[name] = Output(0, (SAMPLES / f"{name}.txt").read_text(), "")
    found, why = metrics.traffic_families(node)
    assert why == []
    return found


def of_agent() -> list[Family]:
    return [*metrics.of_look(Look("n1", ("ib",), (runs.check("fail"),))), *carried()]


KNOWN = families()


BOARD: dict[str, Any] = json.loads((DOCS / "grafana-dashboard.json").read_text())


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = BOARD["panels"]
    return found


def rules() -> list[dict[str, Any]]:
    read = yaml.safe_load((DOCS / "prometheus-alerts.yml").read_text())
    return [rule for group in read["groups"] for rule in group["rules"]]


ASKED = [
    *((target["expr"], target["legendFormat"]) for one in panels() for target in one.get("targets", ())),
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
            if label in OWN:
                continue
            written = {sample[label] for sample, _ in samples if label in sample}
            wanted = set(value.split("|"))
            assert wanted & written, f"{label}={value}"
    for names, name in BY.findall(expr):
        for label in names.split(", "):
            assert label in OWN or any(label in sample for sample, _ in KNOWN[name].samples)
    assert set(SHOWN.findall(shown)) - {"value"} <= labels | OWN


def test_panels_have_places_and_names_of_their_own() -> None:
    assert len({one["id"] for one in panels()}) == len({one["title"] for one in panels()}) == len(panels())
    taken: set[tuple[int, int]] = set()
    for one in panels():
        at = one["gridPos"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not mine & taken, one["title"]
        assert max(x for x, _ in mine) < 24, one["title"]
        taken |= mine


def test_variables_and_links_lead_somewhere() -> None:
    text = json.dumps(BOARD)
    known = {variable["name"] for variable in BOARD["templating"]["list"]}
    assert {"datasource", "node"} == known
    # Grafana's own begin with two underscores.
    assert {name for name in re.findall(r"\$\{?([a-z_]+)", text) if not name.startswith("__")} == known
    links = re.findall(r'"url": "(/d/[^"?]*)\?([^"]*)"', text)
    assert links
    for place, given in links:
        assert place == f"/d/{BOARD['uid']}"
        assert {word.partition("=")[0].removeprefix("var-") for word in given.split("&")} == known


def test_what_the_agent_measures_is_drawn() -> None:
    asked = {name for expr, _ in ASKED for name, _ in METRIC.findall(expr)}
    # Packets say little beside bytes, and that memory moves little beside that the GPU works.
    assert {one.name for one in carried()} - asked == {"ibready_port_packets_total", "ibready_gpu_memory_busy_ratio"}


def test_every_metric_of_a_run_is_in_the_documentation() -> None:
    text = (DOCS / "run.md").read_text()
    for name in KNOWN:
        if name.startswith(render_prometheus.PREFIX):
            assert f"`{name}" in text, name
