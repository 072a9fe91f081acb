# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import Waiver
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import build, changed, history, shape
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import variables as _variables
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import rendered
from tests.unit import runs

TODAY = runs.NOW.date()
WAIVED = {"waived": "until 2026-12-31: ordered"}
PORT = "ib.port.state"


def states(*waivers: Waiver, **bent: Any) -> list[str]:
    found = runs.run(
        {
            "n1": runs.judged(runs.check("fail", subject="mlx5_0/1", **WAIVED)),
            "n12": runs.judged(runs.check("fail", subject="mlx5_0/1")),
        },
        waivers=waivers,
        **bent,
    )["waivers"]
    return [one["state"] for one in found]


@pytest.mark.parametrize(
    ("waiver", "state"),
    [
        (Waiver(PORT, "n1", TODAY, "ordered"), "used"),
        (Waiver(PORT, "n1", TODAY, "ordered", "mlx5_0/1"), "used"),
        (Waiver(PORT, "n1", TODAY, "ordered", "mlx5_1/1"), "unused"),
        (Waiver("ib.port.rate", "n1", TODAY, "ordered"), "unused"),
        (Waiver(PORT, "n1", TODAY - timedelta(days=1), "ordered"), "expired"),
        (Waiver(PORT, "n3", TODAY, "ordered"), "unused"),
        (Waiver(PORT, "n12", TODAY, "ordered"), "unused"),
    ],
)
def test_a_waiver_is_used_only_by_what_it_names(waiver: Waiver, state: str) -> None:
    assert states(waiver) == [state]


@pytest.mark.parametrize(
    ("host", "subject", "state"),
    [
        ("fabric", "", "used"),
        ("n2", "mlx5_0/1", "used"),
        ("n2", "", "used"),
        ("n2", "mlx5_1/1", "unused"),
        ("n", "", "unused"),
    ],
)
def test_a_waiver_may_be_used_by_a_fabric(host: str, subject: str, state: str) -> None:
    fabric = runs.fabric(runs.check("fail", "fabric.cable.width", "n2 mlx5_0/1", **WAIVED))
    assert states(Waiver("fabric.cable.width", host, TODAY, "x", subject), fabric=fabric) == [state]


def test_a_waiver_that_all_hosts_have_is_told_once() -> None:
    assert len(states(Waiver(PORT, "n1", TODAY, "x"), Waiver(PORT, "n1", TODAY, "y"))) == 2


def test_hosts_of_one_class_are_named_with_its_plan() -> None:
    mine = {"class": "c1", "verdict": "known", "because": ("a",), "digest": "d", "stack": {"x": 1}}
    hosts = {
        "n1": {"ibready_plan": mine},
        "n2": {"ibready_plan": {**mine, "class": "c2"}},
        "n3": {"ibready_plan": mine},
        "n4": {},
    }
    found = build.plan(hosts, list(hosts))
    assert found is not None
    assert {name: one["hosts"] for name, one in found.items()} == {"c1": ["n1", "n3"], "c2": ["n2"]}
    assert found["c1"]["because"] == ["a"]
    assert build.plan({"n4": {}}, ["n4"]) is None


def test_what_changed_and_when_it_began_is_in_the_object() -> None:
    listened = changed.Reported()
    listened.begin(runs.NOW - timedelta(minutes=4))
    listened.changed("n1", "rdma : install")
    found = runs.run(runs.MIXED, listened=listened)
    assert found["run"]["started"] == "2026-11-22T19:37:00+00:00"
    assert found["changes"] == {"n1": [{"task": "rdma : install", "times": 1}]}


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"schema": "ibready/bench/2"}', '{"schema": "ibready/bench/1", "hosts": []}'],
)
def test_a_benchmark_that_cannot_be_read_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bench.json"
    assert build.benchmarks(path) is None
    path.write_text(text)
    found = build.benchmarks(path)
    assert found is not None
    assert f"{path} cannot be read" in found["error"]
    assert "next: run playbooks/bench.yml again" in found["error"]


def test_the_words_of_variables_are_those_of_the_code() -> None:
    options = _variables.playbook_options()
    assert options["ibready_report_formats"]["choices"] == list(rendered.FORMATS)
    assert options["report_fail_on"]["choices"] == list(summary.ACCEPTED) == list(shape.FAIL_ON)
    assert f"(default {history.KEEP})" in options["ibready_report_keep"]["description"]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"report_fail_on": "always"}, "must be one of: degraded, not_ready, never"),
        ({"ibready_report_keeps": 3}, "did you mean ibready_report_keep?"),
        ({"ibready_report_keep": "lots"}, "unable to convert to int"),
        ({"ibready_report_formats": ["pdf"]}, "must be one or more of"),
    ],
)
def test_what_cannot_be_meant_is_refused(variables: dict[str, Any], says: str) -> None:
    found = _variables.problems(variables, {})
    assert len(found) == 1
    assert says in found[0]


def test_variables_of_the_site_are_left_alone() -> None:
    assert _variables.problems({"report_email": "ops@example.com", "since_when": 1}, {}) == []
