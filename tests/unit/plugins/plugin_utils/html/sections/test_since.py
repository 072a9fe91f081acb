# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import datetime
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.compare import compare
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import since
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs
from tests.unit.markup import Piece

T = Speech()


def differing() -> dict[str, Any]:
    """n2 got worse, n3 better, n1 stayed as it was."""
    good = runs.judged(runs.check())
    before = runs.run({"n1": good, "n2": good, "n3": runs.MIXED["n2"]})
    now = runs.run({"n1": good, "n2": runs.MIXED["n2"], "n3": good})
    return {**now, "since": compare(before, now)}


def test_worse_comes_first_and_both_verdicts_are_told() -> None:
    reported = since.read(differing())
    assert reported is not None
    assert [(one.host, one.before, one.now) for one in reported.hosts] == [
        ("n2", "ready", "not_ready"),
        ("n3", "not_ready", "ready"),
    ]
    assert [way for way, *_ in reported.hosts[0].ways] == ["worse"]
    assert reported.counts == {"better": 1, "worse": 2, "gone": 1}
    found = told.since(differing(), T)
    assert found is not None
    row = Piece(found.html).row("n2")
    assert row[1:3] == ["ready", "not ready"]
    assert "Worse: ib.port.state mlx5_0/1: pass → fail" in row[3]


def test_a_first_run_has_none_and_an_equal_one_says_so() -> None:
    run = runs.run(runs.MIXED)
    assert told.since(run, T) is None
    run["since"] = compare(run, run)
    found = told.since(run, T)
    assert found is not None
    assert "Nothing got better or worse since" in Piece(found.html).text


def test_why_nothing_was_compared_is_told_and_nothing_looks_well() -> None:
    run = runs.run(runs.MIXED)
    run["since"] = {"created": "", "error": "/r/old.json: cut <short>", "hosts": {}}
    found = told.since(run, T)
    assert found is not None
    assert "Not compared: /r/old.json: cut <short>" in Piece(found.html).text
    assert "Nothing got better" not in found.html


def test_the_rest_of_the_hosts_and_findings_is_counted() -> None:
    some = [{"id": "a", "subject": str(at), "before": "pass", "now": "fail"} for at in range(9)]
    host = {"before": "ready", "now": "ready", "better": [], "worse": some, "gone": []}
    reported = {"created": "x", "error": "", "hosts": {f"n{at}": host for at in range(230)}}
    read = since.read({"since": reported})
    assert read is not None
    assert (len(read.hosts), read.more, read.count) == (since.HOSTS, 30, 230)
    assert read.counts["worse"] == 230 * 9
    found = told.since({"since": reported}, T)
    assert found is not None
    assert "and 30 more, in the JSON report" in found.html
    assert "and 3 more" in found.html


def listened(**tasks: int) -> changed.Reported:
    reported = changed.Reported()
    reported.begin(datetime.datetime(2026, 11, 22, tzinfo=datetime.UTC))
    for host in ("n1", "n2"):
        for task, times in tasks.items():
            for _ in range(times):
                reported.changed(host, task)
    return reported


def test_what_changed_is_told_by_task() -> None:
    run = runs.run(runs.MIXED, listened=listened(install=2, restart=1))
    reported = since.changes(run)
    assert reported is not None
    assert reported.hosts == 2
    assert [(one.name, one.times, one.hosts.shown) for one in reported.tasks] == [
        ("install", 4, ("n1", "n2")),
        ("restart", 2, ("n1", "n2")),
    ]
    found = told.changes(run, T)
    assert found is not None
    assert Piece(found.html).row("install") == ["install", "4", "2: n1, n2"]


def test_check_mode_claims_no_change() -> None:
    run = runs.run(runs.MIXED, listened=listened(install=2))
    found = told.changes(run, T)
    assert found is not None
    assert "would change" not in found.html
    run["run"]["check_mode"] = True
    found = told.changes(run, T)
    assert found is not None
    assert "this is what a real run would change. Nothing was changed." in found.html


def test_a_run_that_changed_nothing_says_so_and_one_without_a_listener_says_nothing() -> None:
    found = told.changes(runs.run(runs.MIXED, listened=listened()), T)
    assert found is not None
    assert "This run changed nothing." in found.html
    assert told.changes(runs.run(runs.MIXED), T) is None
