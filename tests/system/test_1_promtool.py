# SPDX-License-Identifier: GPL-3.0-or-later
"""Prometheus' own tool reads what we write for Prometheus: metrics of runs, alert rules."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_prometheus
from tests import cases
from tests.browser import hostile, runs

ROOT = Path(__file__).resolve().parents[2]
# `./run system` fetches it.
PROMTOOL = ROOT / ".cache/promtool/usr/bin/promtool"


def promtool(*argv: str, said: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(PROMTOOL), *argv]
    return subprocess.run(command, input=said, text=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("name", cases.daily(["healthy", "hostile", "three_faults", "five_hundred"], 2))
def test_the_metrics_of_a_run_are_clean(name: str) -> None:
    run = hostile.run() if name == "hostile" else getattr(runs, name)()
    done = promtool("check", "metrics", said=render_prometheus.render(run))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_metrics_that_are_not_clean_are_told() -> None:
    text = render_prometheus.render(runs.healthy())
    help_line = next(line for line in text.splitlines(True) if line.startswith("# HELP"))
    assert promtool("check", "metrics", said=text.replace(help_line, "", 1)).returncode != 0


def test_the_alert_rules_are_valid() -> None:
    done = promtool("check", "rules", str(ROOT / "docs/prometheus-alerts.yml"))
    assert (done.returncode, "SUCCESS" in done.stdout) == (0, True), done.stdout + done.stderr
