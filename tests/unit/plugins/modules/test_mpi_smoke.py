# SPDX-License-Identifier: GPL-3.0-or-later
"""The module mpi_smoke: what it refuses before it touches the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._smoke import job
from ansible_collections.ibready.cluster.plugins.modules import mpi_smoke

RunModule = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"state": "prepared"}, "files"),
        ({"state": "finished"}, "ranks, hosts"),
        ({"state": "finished", "ranks": 2}, "hosts"),
    ],
)
def test_a_state_without_what_it_needs_is_refused(
    run_module: RunModule, given: dict[str, Any], missing: str
) -> None:
    result = run_module(mpi_smoke.main, **given)
    assert result["failed"] is True
    assert result["msg"].endswith(f"all of the following are missing: {missing}")


def test_another_job_is_told_from_other_failures(
    run_module: RunModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The playbooks tidy up after the one, and leave the other alone.
    monkeypatch.setattr(job, "_user", lambda name: None)
    monkeypatch.setattr(job, "mpirun_folder", lambda: "/usr/bin")
    running = job.State(running=True, result="success", status="0")
    monkeypatch.setattr(job, "state", lambda run: running)
    result = run_module(mpi_smoke.main, state="prepared", files={})
    assert "another smoke job" in result["msg"], result
    assert result["busy"] is True

    monkeypatch.setattr(job, "state", lambda run: job.State(False, "success", "0"))
    monkeypatch.setattr(job, "remove", lambda run: False)
    monkeypatch.setattr(job, "FOLDER", "/proc/ibready/none")
    assert run_module(mpi_smoke.main, state="prepared", files={})["busy"] is False
