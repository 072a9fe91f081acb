# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.modules import ibverify
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER

RunModule = Callable[..., dict[str, Any]]

BOARD = "ib-login"
EXPECT = render.node(BOARD).expect


def command(bundle: Path, name: str, stdout: str, rc: int = 0) -> None:
    home = bundle / "commands" / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "stdout").write_text(stdout)
    (home / "stderr").write_text("")
    (home / "rc").write_text(f"{rc}\n")


def bend(bundle: Path, name: str, old: str, new: str) -> None:
    text = (bundle / "commands" / name / "stdout").read_text()
    assert old in text
    command(bundle, name, text.replace(old, new))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The evidence of a healthy simulated host with one HCA, to be changed by hand."""
    collect.collect(render.render(render.node(BOARD)), str(tmp_path), "node7", "now", {"nccl": {"peers": [PEER]}})
    manifest = tmp_path / "node7" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "sums": {}}))
    return tmp_path / "node7"


def test_a_healthy_host_is_ready(run_module: RunModule, bundle: Path) -> None:
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    assert result["verdict"] == "ready", result
    assert result["schema"] == "ibready/verdict/1"
    assert not result.get("failed")
    assert result["changed"] is False


@pytest.mark.parametrize("said", [None, {}])
def test_a_bundle_carries_what_was_expected(run_module: RunModule, said: dict[str, Any] | None, tmp_path: Path) -> None:
    expect = {"rate_gbps": 800, "nccl": {"peers": [PEER]}}
    collect.collect(render.render(render.node(BOARD)), str(tmp_path), "node7", "now", expect)
    result = run_module(ibverify.main, bundle=str(tmp_path / "node7"), expect=said)
    assert result["verdict"] == "not_ready"
    assert "800 Gb/s" in result["msg"]
    assert run_module(ibverify.main, bundle=str(tmp_path / "node7"), expect=EXPECT)["verdict"] == "ready"


def test_a_slow_port_fails_the_module_with_the_whole_story(run_module: RunModule, bundle: Path) -> None:
    bend(bundle, "ibstat", "Rate: 200", "Rate: 100")
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    assert result["failed"] is True
    assert result["verdict"] == "not_ready"
    for part in ("ib.port.rate", "mlx5_0/1", "100 Gb/s", "200 Gb/s", "inventory", "next:"):
        assert part in result["msg"]


def test_a_short_answer_is_the_verdict_and_its_findings(run_module: RunModule, bundle: Path) -> None:
    asked = {"bundle": str(bundle), "expect": EXPECT, "answer": "short"}
    well = run_module(ibverify.main, **asked)
    assert (well["verdict"], well["findings"]) == ("ready", [])
    assert well["counts"]["pass"] > 20
    assert not {"checks", "facts", "clock", "waived"} & {*well}
    bend(bundle, "ibstat", "Rate: 200", "Rate: 100")
    slow = run_module(ibverify.main, **asked)
    assert slow["failed"] is True
    assert slow["verdict"] == "not_ready"
    (found,) = [finding for finding in slow["findings"] if finding.startswith("ib.port.rate mlx5_0/1: 100 Gb/s")]
    assert "; next: " in found
    waiver = {"check": "ib.port.rate", "host": "node7", "until": "2999-12-31", "reason": "RMA 1"}
    waived = run_module(ibverify.main, **asked, waivers=[waiver])
    assert found not in waived["findings"]
    assert [said for said in waived["waived"] if said.startswith("ib.port.rate mlx5_0/1: ") and "RMA 1" in said]


def test_report_only_returns_the_same_without_failing(run_module: RunModule, bundle: Path) -> None:
    command(bundle, "ibstat", "")
    failing = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    looking = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT, report_only=True)
    assert failing["failed"] is True
    assert not looking.get("failed")
    assert looking["checks"] == failing["checks"]


def test_empty_ibstat_with_status_zero_is_not_ready(run_module: RunModule, bundle: Path) -> None:
    command(bundle, "ibstat", "", rc=0)
    assert run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)["verdict"] == "not_ready"


@pytest.mark.parametrize("name", ["ibstat", "sminfo@mlx5_0-1"])
def test_missing_evidence_is_unknown(run_module: RunModule, bundle: Path, name: str) -> None:
    (bundle / "commands" / name / "rc").unlink()
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    assert result["verdict"] == "unknown"
    assert result["failed"] is True


def test_an_empty_bundle_is_unknown(run_module: RunModule, tmp_path: Path) -> None:
    assert run_module(ibverify.main, bundle=str(tmp_path))["verdict"] == "unknown"


def test_foreign_text_is_unknown_and_names_the_line(run_module: RunModule, bundle: Path) -> None:
    bend(bundle, "ibstat", "Rate: 200", "Rate: fast")
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    assert result["verdict"] == "unknown"
    assert "line 11" in result["msg"]


def test_a_bad_expectation_is_refused_before_looking(run_module: RunModule, bundle: Path) -> None:
    result = run_module(ibverify.main, bundle=str(bundle), expect={"hcas": -1})
    assert result["failed"] is True
    assert "expect.hcas" in result["msg"]
    assert "checks" not in result


def test_the_result_is_plain_json(run_module: RunModule, bundle: Path) -> None:
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT)
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize("pause", [0, -1, 601])
def test_a_pause_that_shows_no_rate_is_refused(run_module: RunModule, bundle: Path, pause: float) -> None:
    result = run_module(ibverify.main, bundle=str(bundle), expect=EXPECT, pause=pause)
    assert result["failed"] is True
    assert f"pause must be from 0.1 to 600 seconds, not {pause}" in result["msg"]
