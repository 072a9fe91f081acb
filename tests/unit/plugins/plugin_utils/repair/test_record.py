# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of repairs, and what counts as mended."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._repair import record
from ansible_collections.ibready.cluster.plugins.plugin_utils._repair.plan import Plan, Step

NOW = datetime(2026, 11, 27, 3, tzinfo=UTC)
STEP = Step("n1", "gpu.sick", "a GPU is sick", "gpu", ["reset"], [], True, "nothing", ["gpu.xid"])
PLAN = Plan([STEP])
WELL: dict[str, Any] = {"looked": ["n1"], "causes": [], "unknown": []}


def test_an_interrupted_run_has_tried_it(tmp_path: Path) -> None:
    record.begin(tmp_path, PLAN, NOW)
    (entry,) = record.read(tmp_path)
    assert (entry["result"], entry["error"]) == ("failed", "it was not ended")
    assert record.tried([entry], NOW, 7) == {("n1", "gpu.sick"): 1}
    record.end(tmp_path, record.results(PLAN, WELL, {}), {}, NOW)
    assert [entry["result"] for entry in record.read(tmp_path)] == ["fixed"]


def test_a_run_counts_once_and_is_forgotten_in_time(tmp_path: Path) -> None:
    for days in (0, 3, 10):
        record.begin(tmp_path, Plan([STEP, STEP]), NOW - timedelta(days=days))
    assert record.tried(record.read(tmp_path), NOW, 7) == {("n1", "gpu.sick"): 2}
    assert record.tried(record.read(tmp_path), NOW, 30) == {("n1", "gpu.sick"): 3}


def cause(name: str, host: str = "n1", **more: Any) -> dict[str, Any]:
    shown = [{"host": host, "check": "gpu.xid"}]
    return {"id": name, "hosts": [host], "evidence": shown, "explains": [], "hides": [], **more}


CAUSE, OTHER = cause("gpu.sick"), cause("gpu.xid")
EXPLAINS = cause("gpu.no_driver", evidence=[], explains=[{"host": "n1", "check": "gpu.xid"}])
HIDES = cause("gpu.no_driver", evidence=[], hides=[{"host": "n1", "check": "gpu.xid"}])
UNSEEN = {"hosts": ["n1"], "checks": ["gpu.xid"]}


@pytest.mark.parametrize(
    ("after", "errors", "result"),
    [
        pytest.param(WELL, {}, "fixed", id="well"),
        pytest.param({**WELL, "causes": [cause("gpu.sick", "n2")]}, {}, "fixed", id="another host has it"),
        pytest.param({**WELL, "causes": [OTHER]}, {}, "stayed", id="fails for another cause"),
        pytest.param({**WELL, "causes": [EXPLAINS]}, {}, "stayed", id="follows from another cause"),
        pytest.param({**WELL, "causes": [CAUSE]}, {}, "stayed", id="still there"),
        pytest.param({**WELL, "unknown": [UNSEEN]}, {}, "stayed", id="could not be looked at again"),
        pytest.param({**WELL, "causes": [HIDES]}, {}, "stayed", id="hidden by another cause"),
        pytest.param({**WELL, "looked": []}, {}, "failed", id="the host does not answer"),
        pytest.param(None, {}, "failed", id="nobody looked"),
        pytest.param({**WELL, "causes": [CAUSE]}, {"n1": "the reset failed"}, "failed", id="stopped"),
        pytest.param({**WELL, "looked": []}, {"n1": "the reset failed"}, "failed", id="stopped, and does not answer"),
        pytest.param(WELL, {"n1": "it stays drained"}, "fixed", id="stopped by something else"),
    ],
)
def test_mended_is_what_was_looked_at_again_and_is_well(after: Any, errors: dict[str, str], result: str) -> None:
    ((_step, told, why),) = record.results(PLAN, after, errors)
    assert told == result
    assert bool(why) == (result != "fixed")


def test_a_host_is_out_until_it_is_given_back(tmp_path: Path) -> None:
    later = NOW + timedelta(hours=1)
    record.begin(tmp_path, PLAN, NOW)
    assert record.out(record.read(tmp_path)) == {"n1"}
    stays = {"n1": "it stays drained"}
    record.end(tmp_path, record.results(PLAN, WELL, stays), stays, NOW)
    assert record.out(record.read(tmp_path)) == {"n1"}
    record.begin(tmp_path, PLAN, later)
    record.end(tmp_path, record.results(PLAN, WELL, {}), {}, later)
    assert record.out(record.read(tmp_path)) == set()
    calm = Plan([replace(STEP, drains=False)])
    record.begin(tmp_path, calm, later + timedelta(hours=1))
    assert record.out(record.read(tmp_path)) == set()


def test_what_is_too_old_is_forgotten(tmp_path: Path) -> None:
    for days in (record.KEPT + 1, record.KEPT - 1, 0):
        record.begin(tmp_path, PLAN, NOW - timedelta(days=days))
    record.begin(tmp_path, Plan(), NOW)
    assert len(record.read(tmp_path)) == 2


@given(st.text())
def test_a_record_that_is_none_stops_repairs(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("record")
    (folder / record.NAME).write_text(text, encoding="utf-8", errors="surrogatepass")
    with pytest.raises(record.RecordError):
        record.read(folder)


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "ibready/repairs/1", "acts": [{"at": "2026-11-27", "host": "n1", "cause": "c"}]}',
        '{"schema": "ibready/repairs/1", "acts": [{"host": "n1", "cause": "c"}]}',
        '{"schema": "ibready/repairs/1"}',
        '{"schema": "ibready/run/1", "acts": []}',
    ],
)
def test_half_a_record_stops_repairs(tmp_path: Path, text: str) -> None:
    (tmp_path / record.NAME).write_text(text)
    with pytest.raises(record.RecordError, match="move it away"):
        record.read(tmp_path)
