# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between import lease
from ansible_collections.ibready.cluster.plugins.modules import run_lease

Run = Callable[..., dict[str, Any]]
MINE = {"run": "1 2 here", "who": "ops@ctl (process 1)", "what": "site.yml", "host": "n1"}
OTHER = {**MINE, "run": "3 4 there", "who": "eve@other (process 3)", "what": "rollback.yml"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lease, "CHANGES", str(tmp_path / "lease/changes.json"))
    return tmp_path / "lease"


def test_taken_refused_and_given_back(run_module: Run) -> None:
    first = run_module(run_lease.main, state="taken", **OTHER)
    assert (first["changed"], first["taken"], "holder" in first) == (True, True, False)
    reported = run_module(run_lease.main, state="taken", **MINE)
    assert (reported["failed"], reported["taken"], reported["holder"]["run"]) == (True, False, "3 4 there")
    assert "n1: another run is at work here: rollback.yml by eve@other (process 3)" in reported["msg"]
    for word in (" since 2", "until 2", "Next: let it end", "-e ibready_take_over=true"):
        assert word in reported["msg"]
    assert run_module(run_lease.main, state="given", **MINE)["changed"] is False
    assert run_module(run_lease.main, state="given", **OTHER)["changed"] is True
    assert run_module(run_lease.main, state="taken", **MINE)["taken"]


def test_consent_takes_it_over_and_so_does_the_end_of_its_process(run_module: Run) -> None:
    run_module(run_lease.main, state="taken", **OTHER)
    assert run_module(run_lease.main, state="taken", take_over=True, **MINE)["taken"]
    assert run_module(run_lease.main, state="taken", over=MINE["run"], **OTHER)["taken"]


def test_check_mode_takes_nothing_and_tells(run_module: Run, folder: Path) -> None:
    reported = run_module(run_lease.main, check=True, state="taken", **MINE)
    assert (reported["taken"], folder.exists()) == (False, False)
    run_module(run_lease.main, state="taken", **OTHER)
    reported = run_module(run_lease.main, check=True, state="taken", **MINE)
    assert (reported["taken"], reported["changed"]) == (False, False)
    assert "n1: another run is at work here: rollback.yml by eve@other" in reported["warnings"][0]
    assert run_module(run_lease.main, check=True, state="given", **OTHER)["changed"] is False
    assert "warnings" not in run_module(run_lease.main, check=True, state="taken", **OTHER)


def test_a_host_that_cannot_keep_it_is_named_with_the_cause(run_module: Run, folder: Path) -> None:
    folder.write_text("a file")
    reported = run_module(run_lease.main, state="taken", **MINE)
    assert reported["failed"]
    assert reported["msg"].startswith(f"n1: {folder} cannot be made")
    assert "holder" not in reported


def test_no_time_at_all_is_no_lease(run_module: Run) -> None:
    reported = run_module(run_lease.main, state="taken", hours=0, **MINE)
    assert "hours must be at least 1" in reported["msg"]
