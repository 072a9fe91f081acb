# SPDX-License-Identifier: GPL-3.0-or-later
"""No board has a log of NCCL by itself, so its checks pass on none: here somebody gave one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.given import Given
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle, Evidence, Live
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    PASS,
    SKIP,
    UNKNOWN,
    UNKNOWN_VERDICT,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import damage, render
from tests.gauntlet.nodes import nccl
from tests.gauntlet.tree import Tree

BOARD = "hgx-h100-8"
IDS = sorted(name for name in CATALOG if name.startswith("nccl.log."))


@cache
def given() -> Tree:
    node = render.node(BOARD)
    node.more = {**node.more, "nccl_log": True}
    return render.render(node)


def judge(source: Evidence) -> list[Check]:
    expect = from_inventory(render.node(BOARD).expect)
    checks = _verify.verify(source, expect, ["nccl"]).checks
    return [one for one in checks if one.id in IDS]


def results(checks: list[Check]) -> set[str]:
    return {one.result for one in checks}


def walk() -> Iterator[Any]:
    for check_id in IDS:
        for kind in damage.KINDS:
            yield pytest.param(check_id, kind, id=f"{check_id}: {kind}")


def test_the_log_of_a_good_job_passes_every_check() -> None:
    # Neither the job nor its site asked for SHARP.
    wanted = {(name, SKIP if name == "nccl.log.collnet" else PASS) for name in IDS}
    assert {(one.id, one.result) for one in judge(given())} == wanted
    assert len(IDS) == 9


@pytest.mark.parametrize(("check_id", "kind"), list(walk()))
def test_no_check_passes_without_having_looked(check_id: str, kind: str) -> None:
    source = damage.Damaged(given(), "nccl_log", kind)
    source.given = ("nccl_log",)  # type: ignore[attr-defined]
    mine = [one for one in judge(source) if one.id == check_id]
    assert source.hits
    assert results(mine) == {UNKNOWN}


def test_a_log_that_ends_at_any_line_passes_no_more_than_it_tells() -> None:
    lines = given().commands["nccl_log"].stdout.splitlines(keepends=True)
    for end in range(1, len(lines)):
        tree = replace(given(), commands=dict(given().commands))
        tree.command("nccl_log", "".join(lines[:end]))
        checks = {one.id: one for one in judge(tree)}
        assert checks["nccl.log.errors"].result == UNKNOWN, f"{end} of {len(lines)} lines"
        assert not [one for one in checks.values() if one.result == "fail"]


def test_without_a_log_nothing_is_said_and_that_alone_is_no_verdict() -> None:
    checks = judge(render.render(render.node(BOARD)))
    assert checks == []
    assert verdict(checks) == UNKNOWN_VERDICT


def test_a_log_that_was_given_and_cannot_be_read_is_unknown(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        checks = judge(Given(Live(tmp_path), {"nccl_log": str(path)}))
        assert {one.id for one in checks} == set(IDS)
        assert results(checks) == {UNKNOWN}
        assert all(str(path) in one.cause for one in checks)


def test_a_file_in_which_nccl_says_nothing_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("epoch 1\n")
    checks = judge(Given(Live(tmp_path), {"nccl_log": str(tmp_path / "job.log")}))
    assert results(checks) == {UNKNOWN}
    assert all("not one line of NCCL" in one.cause for one in checks)


def test_a_file_that_was_given_is_judged_like_a_bundles_log(tmp_path: Path) -> None:
    text = nccl.log(render.node(BOARD))
    (tmp_path / "job.log").write_text(text)
    home = tmp_path / "node/commands/nccl_log"
    home.mkdir(parents=True)
    for name, content in (("stdout", text), ("stderr", ""), ("rc", "1\n")):
        (home / name).write_text(content)
    live = judge(Given(given(), {"nccl_log": str(tmp_path / "job.log")}))
    assert results([one for one in live if one.id != "nccl.log.collnet"]) == {PASS}
    # Of the bundle's host nothing is known, so nobody expects a number of its rails.
    rails, others = [], []
    for one in judge(Bundle(tmp_path / "node")):
        (rails if one.id == "nccl.log.hcas" else others).append(one)
    assert results(rails) == {SKIP}
    assert [one for one in live if one.id != "nccl.log.hcas"] == others


def test_a_bundle_without_a_log_says_nothing_and_one_with_half_of_it_is_unknown(
    tmp_path: Path,
) -> None:
    assert judge(Bundle(tmp_path)) == []
    (tmp_path / "commands/nccl_log").mkdir(parents=True)
    (tmp_path / "commands/nccl_log/rc").write_text("nonsense")
    assert results(judge(Bundle(tmp_path))) == {UNKNOWN}
