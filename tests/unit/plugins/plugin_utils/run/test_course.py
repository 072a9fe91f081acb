# SPDX-License-Identifier: GPL-3.0-or-later
"""How hosts went over the last runs, as a run object carries it on from the one before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import course, folded, read, shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json
from tests.unit import runs

GOOD = runs.judged(runs.check())
DOWN = runs.judged(runs.check("fail"))
WARM = runs.judged(runs.check("fail", severity="warning"))
WAIVED = runs.judged(runs.check("fail", waived="until 2026-12-31: ordered"))
OFF = runs.judged(runs.check("unknown", "host.access.reachable", "host"))
PORT, REACHED = ("ib.port.state", "mlx5_0/1"), ("host.access.reachable", "host")
HOSTS: dict[str, Mapping[str, Any]] = {"+": GOOD, "F": DOWN, "f": WARM, "w": WAIVED, "?": OFF}


def went(*turns: str, most: int = 10) -> dict[str, Any]:
    """The last of several runs: a sign of HOSTS for each host from n1, ``-`` for one that it has not."""
    before: dict[str, Any] | None = None
    for number, signs in enumerate(turns):
        hosts = {f"n{at}": HOSTS[sign] for at, sign in enumerate(signs, 1) if sign != "-"}
        run = runs.run(hosts, created=runs.NOW + timedelta(hours=number))
        before = {**run, "history": course.carried(before, run, most)}
        assert list(valid.wrong(before["history"], shape.RUN["properties"]["history"])) == []
    assert before is not None
    return before


def found(run: dict[str, Any]) -> dict[tuple[str, str, str], list[str]]:
    """The findings of a run's history by host, check and subject."""
    every = run["history"]["findings"]
    return {(host, one["id"], one["subject"]): one["results"] for one in every for host in one["hosts"]}


def test_verdicts_stand_oldest_first_and_this_run_is_the_last() -> None:
    history = went("+F", "++", "F+")["history"]
    assert history["runs"] == [str(runs.NOW + timedelta(hours=at)).replace(" ", "T") for at in range(3)]
    assert history["hosts"] == {"n1": ["ready", "ready", "not_ready"], "n2": ["not_ready", "ready", "ready"]}


def test_only_the_last_runs_are_held_and_what_was_before_them_is_forgotten() -> None:
    run = went("F+", *["+" * 2] * 4, most=3)
    assert run["history"]["hosts"]["n1"] == ["ready"] * 3
    assert found(run) == {}
    assert [len(one) for one in (run["history"]["runs"], *found(went("F+", "++", "++", most=3)).values())] == [3, 3]


def test_a_run_that_did_not_have_a_host_is_absent_and_never_ready() -> None:
    run = went("++", "+-", "+F")
    assert run["history"]["hosts"]["n2"] == ["ready", "absent", "not_ready"]
    # Nor did it look for what failed later.
    assert found(run)["n2", *PORT] == ["none", "absent", "fail"]
    assert went("+-", "++")["history"]["hosts"]["n2"] == ["absent", "ready"]


def test_what_nobody_looked_for_again_is_absent_and_what_passed_again_says_so() -> None:
    run = went("+", "F", "?", "F", "w", "+")
    assert run["history"]["hosts"]["n1"] == ["ready", "not_ready", "unknown", "not_ready", "ready", "ready"]
    assert found(run) == {
        ("n1", *PORT): ["none", "fail", "absent", "fail", "waived", "pass"],
        ("n1", *REACHED): ["none", "none", "unknown", "absent", "absent", "absent"],
    }


def test_a_host_that_no_run_has_any_more_is_forgotten() -> None:
    run = went("FF", "+-", "+-", most=3)
    assert run["history"]["hosts"]["n2"] == ["not_ready", "absent", "absent"]
    assert set(went("FF", "+-", "+-", "+-", most=3)["history"]["hosts"]) == {"n1"}


def test_what_many_hosts_have_is_there_once() -> None:
    run = went("+" * 500, "F" * 500)
    assert [len(one["hosts"]) for one in run["history"]["findings"]] == [500]


def test_a_run_of_some_hosts_holds_the_history_of_these() -> None:
    before = went("+F", "F+")
    now = runs.run({"n2": DOWN}, created=runs.NOW + timedelta(hours=9))
    now["run"]["limit"] = "n2"
    assert course.carried(before, now, 10)["hosts"] == {"n2": ["not_ready", "ready", "not_ready"]}


def test_a_fabric_has_a_history_too() -> None:
    first = runs.run({"n1": GOOD}, fabric=runs.fabric(runs.check()))
    first["history"] = course.carried(None, first, 10)
    now = runs.run({"n1": GOOD}, fabric=runs.fabric(runs.check("fail")))
    assert course.carried(first, now, 10)["hosts"]["fabric fabric"] == ["ready", "not_ready"]


def test_a_run_without_a_history_begins_one() -> None:
    before = {**went("F"), "history": None}
    run = runs.run({"n1": GOOD}, created=runs.NOW + timedelta(hours=1))
    history = course.carried(before, run, 10)
    assert history["hosts"] == {"n1": ["not_ready", "ready"]}
    assert history["findings"][0]["results"] == ["fail", "pass"]


@pytest.mark.parametrize(
    ("bent", "said"),
    [
        ({"hosts": {"n1": ["ready"]}}, r"history\.hosts\.n1: 1 verdicts of 2 runs"),
        ({"hosts": {"n1": ["ready", "fine"]}}, r"history\.hosts\.n1\[1\]: 'fine' is none of"),
        (
            {"findings": [{"id": "a.b.c", "subject": "", "results": ["fail"] * 3, "hosts": ["n1"]}]},
            r"history\.findings\[0\]: 3 results of 2 runs",
        ),
    ],
)
def test_a_history_that_cannot_be_is_refused(tmp_path: Path, bent: dict[str, Any], said: str) -> None:
    run = went("F", "+")
    path = tmp_path / "run.json"
    path.write_text(render_json.render(folded.fold(run)))
    assert read.standing(path)["history"] == run["history"]
    path.write_text(json.dumps(folded.fold({**run, "history": {**run["history"], **bent}})))
    with pytest.raises(read.RunError, match=said):
        read.read(path)
