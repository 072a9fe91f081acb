# SPDX-License-Identifier: GPL-3.0-or-later
"""Real jobs of NCCL, a slow one and one that hung, are explained by what they left (tests/unit/recorded_gpu)."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nccl_watchdog import Watchdog
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Waiting
from ansible_collections.ibready.cluster.plugins.module_utils._verify import slow, why

RECORDED = Path(__file__).parents[2] / "recorded_gpu" / "jobs.tgz"
WATCHDOG = (
    "[rank0]:[E1126 09:23:58.2 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=13, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=30000) ran for 30032 milliseconds "
    "before timing out."
)


def job(kind: str, *files: str) -> slow.Job:
    """What is said of the job by its files whose names begin so."""
    heard = why.Heard()
    with tarfile.open(RECORDED) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            name = member.name.rpartition("/")[2]
            file = archive.extractfile(member)
            if file is not None and member.name.startswith(f"{kind}/") and name.startswith(files):
                heard.give(name, file.read())
    assert heard.unread == []
    found = why.job(heard)
    assert found is not None
    return found


@pytest.mark.parametrize("files", [("",), ("steps",), ("trace",), ("steps", "log")])
def test_the_rank_that_all_wait_for_is_named(files: tuple[str, ...]) -> None:
    """Rank 2 slept 150 ms in each step."""
    found = job("slow", *files)
    assert found.head.startswith("the job waits for rank 2")
    assert "takes 152 ms" in found.because[0]
    assert found.late


@pytest.mark.parametrize("files", [("",), ("log",), ("nccl_trace",), ("ras",), ("log", "steps"), ("ras", "dmon")])
def test_the_rank_that_never_came_is_named(files: tuple[str, ...]) -> None:
    """Rank 2 slept before the collective operation that the others were in."""
    found = job("hung", *files)
    assert found.head == "the job stands still: it waits for rank 2"
    assert any("number 12" in line for line in found.stuck)


def test_what_the_watchdog_tells_of_a_rank() -> None:
    line = "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 13 PG status: "
    watchdog = Watchdog()
    watchdog.take(WATCHDOG)
    assert watchdog.waiting == (Waiting("0", "", "", 13, "all_reduce", state="timed out"),)
    watchdog.take(f"{line}last enqueued work: 15, last completed work: 12")
    assert watchdog.waiting == (Waiting("0", "", "0", 13, "all_reduce", state="timed out"),)
    watchdog.take("[PG 0 (default_pg) Rank 2] x. Last enqueued NCCL work: 12, last completed NCCL work: 12.")
    assert watchdog.waiting[1] == Waiting("2", "", "0", 12, state="completed")


@pytest.mark.parametrize(
    "again", ["node-a:10:11 [0] NCCL INFO ncclCommInitRank comm 0x7f rank 0 nranks 2 Init START", "  restart_count=1"]
)
def test_a_job_that_was_started_anew_does_not_hang(again: str) -> None:
    watchdog = Watchdog()
    watchdog.take(WATCHDOG)
    watchdog.take(again)
    assert watchdog.waiting == ()


@pytest.mark.parametrize(
    "line",
    [
        "last enqueued work: 13, last completed work: 12",
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1) ran for",
        "[Rank x] Last enqueued NCCL work: 12, last completed NCCL work: 12.",
        "[PG 0 Rank 0] Last enqueued NCCL work: 99999999999999, last completed NCCL work: 12.",
    ],
)
def test_a_line_that_is_not_whole_tells_nothing(line: str) -> None:
    watchdog = Watchdog()
    watchdog.take(line)
    assert watchdog.waiting == ()


def test_a_log_without_a_watchdog_tells_no_times() -> None:
    assert nccl_log.times(nccl_log.parse("node-a:10:11 [0] NCCL INFO NET/IB : No device found.\n")) is None
