# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job left of its times, as a check: what hangs for sure, what another look has to tell, and who is named."""

from __future__ import annotations

import datetime
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import job_times

RECORDED = Path(__file__).parents[3] / "recorded_gpu" / "jobs.tgz"
COMPUTES = "rank,step,step_ms,compute_ms,communication_ms\n" + "".join(
    f"{rank},{step},500,490,10\n" for step in range(20) for rank in range(4)
)
UNEVEN = "rank,step,step_ms,compute_ms,communication_ms,host\n" + "".join(
    f"{rank},{step},500,{480 if rank == step % 4 else 250},{20 if rank == step % 4 else 250},n{rank}\n"
    for step in range(40)
    for rank in range(4)
)


def check(*texts: str, files: tuple[str, ...] = (), kind: str = "hung") -> Check:
    heard = why.Heard()
    for number, text in enumerate(texts):
        heard.take(f"text{number}", text)
    with tarfile.open(RECORDED) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            name = member.name.rpartition("/")[2]
            file = archive.extractfile(member)
            if files and file is not None and member.name.startswith(f"{kind}/") and name.startswith(files):
                heard.give(name, file.read())
    ((found,),) = job_times.judge(heard, (), datetime.date(2026, 11, 26)).values()
    return found


def test_a_job_of_computation_passes() -> None:
    assert check(COMPUTES).result == PASS


@pytest.mark.parametrize("files", [("log",), ("log", "steps"), ("",)])
def test_a_job_that_its_watchdog_ended_stands_still(files: tuple[str, ...]) -> None:
    found = check(files=files)
    assert (found.result, found.severity) == (FAIL, "error")
    assert found.observed.startswith("stands still: the job stands still: it waits for rank 2")


@pytest.mark.parametrize("files", [("nccl_trace",), ("ras_1",)])
def test_ranks_that_wait_beside_healthy_steps_are_never_passed_over(files: tuple[str, ...]) -> None:
    found = check(COMPUTES, files=files)
    assert found.result == UNKNOWN
    assert "ask again" in found.remedy


def test_one_look_at_a_job_that_runs_is_no_proof_and_two_alike_are() -> None:
    assert check(files=("ras_1",)).result == UNKNOWN
    assert check(files=("ras_1", "ras_2")).result == FAIL


def test_what_is_uneven_is_at_nobody_s_door() -> None:
    heard = why.Heard()
    heard.take("steps", UNEVEN)
    ((name, (found,)),) = job_times.judge(heard, (), datetime.date(2026, 11, 26)).items()
    assert (name, found.result) == ("the job", FAIL)
    assert found.observed.startswith("uneven: ")


def test_a_text_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    large = tmp_path / "times.json"
    with large.open("wb") as stream:
        stream.truncate(job_times._LONGEST + 1)
    with pytest.raises(job_times.TimesError, match=r"times.json is larger than 512 MB; next: give a part of it"):
        job_times.read([str(large)])
