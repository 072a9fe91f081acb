# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import benchmarks, reach
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs
from tests.unit.markup import Piece

T = Speech()


def connection(outcome: str = "answered", **bent: Any) -> dict[str, Any]:
    return {
        **{"client": "n1", "server": "n2", "port": 29500, "sample": False, "outcome": outcome},
        **{"ms": 0.5, "said": "", "untested": "", "culprit": ""},
        **bent,
    }


def moved(state: str = "moved", **bent: Any) -> dict[str, Any]:
    return {
        **{"client": "n1", "server": "n2", "rail": "rail1", "where": "host", "test": "verbs"},
        **{"state": state, "kind": "", "said": "", "culprit": ""},
        **bent,
    }


def test_connections_are_counted_and_those_that_failed_told() -> None:
    untested = connection("", untested="no listener", culprit="n3")
    run = {"tcp": [connection(), connection("connected"), connection("dropped"), untested]}
    reported = reach.tcp(run)
    assert reported is not None
    assert (reported.good, reported.bad, reported.left_out) == (2, 1, 1)
    found = told.tcp(run, T)
    assert found is not None
    piece = Piece(found.html)
    assert "Connections: 2 succeeded, 1 failed, 1 not tried." in piece.text
    assert piece.row("n1") == ["n1", "n2", "29500", "dropped", "\N{EN DASH}"]
    assert piece.row("n3") == ["n3", "no listener", "1", "n1 → n2 29500"]


@pytest.mark.parametrize("outcome", ["dropped", "refused", "silent", "other", "unresolved", "?"])
def test_nothing_but_a_proof_is_good(outcome: str) -> None:
    reported = reach.tcp({"tcp": [connection(outcome)]})
    assert reported is not None
    assert (reported.good, reported.bad) == (0, 1)


def test_tests_over_rdma_are_counted_and_those_that_failed_told() -> None:
    failed = moved("failed", kind="memlock", said="Couldn't register MR")
    run = {"rdma": [moved(), failed, moved("untested", said="no answer", culprit="n2")]}
    reported = reach.rdma(run)
    assert reported is not None
    assert (reported.good, reported.bad, reported.left_out) == (1, 1, 1)
    found = told.rdma(run, T)
    assert found is not None
    row = Piece(found.html).row("n1")
    assert row[2:] == ["rail1 host verbs", "failed", "memlock: Couldn't register MR"]


def test_nothing_planned_is_no_section_and_nothing_tried_is_nothing_good() -> None:
    assert told.tcp(runs.run({}), T) is None
    assert told.rdma(runs.run({}), T) is None
    reported = reach.tcp({"tcp": [{}, None, 7]})
    assert reported is not None
    assert (reported.good, reported.left_out) == (0, 3)


def test_the_rest_of_the_pairs_and_reasons_is_counted() -> None:
    every = [connection("dropped")] * 200
    every += [connection("", untested=f"why {at}", culprit="n1") for at in range(80)]
    reported = reach.tcp({"tcp": every})
    assert reported is not None
    assert (reported.more, reported.more_reasons) == (200 - reach.ROWS, 80 - reach.REASONS)
    found = told.tcp({"tcp": every}, T)
    assert found is not None
    assert "and 50 more, in the JSON report" in found.html


def bench(**bent: Any) -> dict[str, Any]:
    fails = runs.check("fail", "fabric.bench.bandwidth", "rail1 write_bw", observed="90 Gb/s")
    passes = runs.check("pass", "fabric.bench.bandwidth", "rail1 write_bw", observed="380 Gb/s")
    hosts = {
        name: {"verdict": "ready", "measured": True, "checks": [one.to_dict()]}
        for name, one in (("n1", passes), ("n2", passes), ("n3", fails))
    }
    hosts["n4"] = {"verdict": "ready", "measured": False, "checks": []}
    reported = {"error": "", "created": "2026-11-01", "simulated": "", "what": ["perftest"]}
    return {"benchmarks": {**reported, "hosts": hosts, **bent}}


def test_benchmarks_fold_equal_results_and_name_what_falls_short_first() -> None:
    reported = benchmarks.read(bench())
    assert reported is not None
    assert [(one.look, one.hosts.shown) for one in reported.rows] == [
        ("fail", ("n3",)),
        ("pass", ("n1", "n2")),
    ]
    assert (reported.measured, reported.unmeasured.shown) == (3, ("n4",))
    found = told.benchmarks(bench(), T)
    assert found is not None
    text = " ".join(Piece(found.html).text.split())
    assert "Measured 2026-11-01 on 3 hosts, not in this run. (perftest)" in text
    assert "1 host was not measured: n4" in text


def test_a_waived_benchmark_is_neither_good_nor_bad() -> None:
    raw = bench()
    (check,) = raw["benchmarks"]["hosts"]["n3"]["checks"]
    check["waived"] = "until 2026-12-31: ordered"
    reported = benchmarks.read(raw)
    assert reported is not None
    assert [one.look for one in reported.rows] == ["waived", "pass"]


def test_benchmarks_that_cannot_be_read_say_why() -> None:
    found = told.benchmarks({"benchmarks": {"error": "bench.json: <cut>"}}, T)
    assert found is not None
    assert "bench.json: &lt;cut&gt;" in found.html
    assert told.benchmarks(runs.run({}), T) is None
