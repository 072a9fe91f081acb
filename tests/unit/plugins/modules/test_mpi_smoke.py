# SPDX-License-Identifier: GPL-3.0-or-later
"""The module mpi_smoke: what it refuses before it touches the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import job
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
def test_a_state_without_what_it_needs_is_refused(run_module: RunModule, given: dict[str, Any], missing: str) -> None:
    result = run_module(mpi_smoke.main, **given)
    assert result["failed"] is True
    assert result["msg"].endswith(f"all of the following are missing: {missing}")


def test_another_job_is_told_from_other_failures(run_module: RunModule, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize(("rails", "cause"), [(True, "mpi.pml"), (False, "")])
def test_a_job_that_broke_off_is_laid_at_a_setting_only_where_rdma_was_wanted(
    run_module: RunModule, monkeypatch: pytest.MonkeyPatch, rails: bool, cause: str
) -> None:
    ended = job.State(running=False, result="exit-code", status="1")
    monkeypatch.setattr(job, "wait", lambda run, seconds: ended)
    monkeypatch.setattr(job, "read_log", lambda: "no slots\n")
    known = {"mca": {"pml": {"value": "ob1", "source": "file (/etc/openmpi/mca.conf)"}}}
    given = {"ranks": 2, "hosts": 2, "rails": rails, "settings": {"node1": known}}
    result = run_module(mpi_smoke.main, state="finished", **given)
    assert (result["result"], result["cause"]) == ("fail", cause)
    assert ("pml=ob1" in result["why"]) is rails


def test_the_job_s_own_word_comes_before_what_mpirun_makes_of_it(
    run_module: RunModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "mpi4py of /usr/bin/python3: ModuleNotFoundError: No module named 'mpi4py'"
    log = f"ibready-smoke: {said}\nprterun noticed that process rank 0 ended\n"
    monkeypatch.setattr(job, "wait", lambda run, seconds: job.State(running=False, result="exit-code", status="1"))
    monkeypatch.setattr(job, "read_log", lambda: log)
    known = {"mca": {"pml": {"value": "ob1", "source": "file (/etc/openmpi/mca.conf)"}}}
    given = {"ranks": 2, "hosts": 2, "rails": True, "settings": {"node1": known}}
    result = run_module(mpi_smoke.main, state="finished", **given)
    # A setting of MPI's is not why a program that never called it gave up.
    assert (result["result"], result["cause"]) == ("fail", "")
    assert result["why"] == f"mpirun ended with exit-code 1: {said}"
