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
from tests import cases

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


@pytest.mark.parametrize(
    "files", cases.daily([pytest.param(one) for one in (("",), ("steps",), ("trace",), ("steps", "log"))], 2)
)
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
    assert found.head.startswith("the job stands still: it waits for rank 2")
    assert any("number 12" in line for line in found.stuck)


LAST = "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 13 PG status: "
DUMP = "[PG ID 0 PG GUID 0(default_pg) Rank 2] Received a dump signal due to a collective timeout from rank 1. "
COUNTS = "Last enqueued NCCL work: 12, last completed NCCL work: 12."
SPLIT = "[PG ID 3 PG GUID 7(tp) Rank 2] Received a dump signal due to a collective timeout from rank 1. "


def told(*lines: tuple[str, str]) -> tuple[Waiting, ...]:
    watchdog = Watchdog()
    for tag, text in lines:
        watchdog.take(text, tag)
    return watchdog.waiting


def test_what_the_watchdog_tells_of_a_rank() -> None:
    first = ("[rank0]:", WATCHDOG)
    # The number is of a group that this line does not name.
    assert told(first) == (Waiting("0", operation="all_reduce", state="timed out", elements=8),)
    last = ("[rank0]:", f"{LAST}last enqueued work: 15, last completed work: 12")
    assert told(first, last) == (Waiting("0", "", "0", 13, "all_reduce", state="timed out", elements=8),)
    assert told(("", f"{DUMP}{COUNTS}")) == (Waiting("2", "", "0", 12, state="finished"),)


def test_the_rank_of_a_group_is_not_that_of_the_job() -> None:
    assert told(("[rank6]:", f"{SPLIT}{COUNTS}")) == (Waiting("6", "", "7", 12, state="finished"),)
    assert told(("", f"{SPLIT}{COUNTS}")) == ()


def test_the_name_of_an_operation_is_of_its_own_group() -> None:
    other = f"{SPLIT}Last enqueued NCCL work: 900, last completed NCCL work: 899."
    found = told(("[rank0]:", WATCHDOG), ("[rank0]:", other))
    assert Waiting("0", "", "7", 900, state="started") in found


def test_a_process_that_failed_tells_of_no_wait() -> None:
    crash = (
        "[PG ID 0 PG GUID 0(default_pg) Rank 0] Exception (either an error or timeout) detected by watchdog at work: 13"
    )
    assert told(("[rank0]:", f"{crash}, last enqueued NCCL work: 15, last completed NCCL work: 12.")) == ()


def test_a_rank_that_was_started_anew_does_not_hang_and_the_others_do() -> None:
    one, two = ("[rank0]:", WATCHDOG), ("[rank1]:", WATCHDOG.replace("Rank 0", "Rank 1"))
    anew = "node-a:10:11 [0] NCCL INFO ncclCommInitRank comm 0x7f rank {} nranks {} cudaDev 0 - Init START"
    assert [each.rank for each in told(one, two, ("", anew.format(1, 2)))] == ["0"]
    # A smaller communicator counts its own ranks.
    assert len(told(("", anew.format(3, 8)), one, two, ("", anew.format(1, 2)))) == 2


def heard(**texts: str) -> why.Heard:
    found = why.Heard()
    for name, text in texts.items():
        found.take(name, text)
    return found


STEPS = "".join(
    f" [2026-11-26 10:{at // 60:02d}:{at % 60:02d}] iteration {at:8d}/ 1000 | consumed samples: {at} | "
    f"elapsed time per iteration (ms): 500.0 | learning rate: 1.0E-04 |\n"
    for at in range(1, 41)
)
CAUGHT = WATCHDOG.partition("] ")[2]
HANGS = "".join(
    line.replace("Rank 0", f"Rank {rank}") + "\n"
    for rank in (0, 1, 3)
    for line in (
        f"[rank{rank}]:[E1126 09:23:58.2 ProcessGroupNCCL.cpp:689] {CAUGHT}",
        f"[rank{rank}]:[E1126 09:23:58.3 x.cpp:2303] {LAST}last enqueued work: 13, last completed work: 12",
    )
)


def test_a_log_of_steps_that_ends_in_the_watchdog_s_words_hangs() -> None:
    """Without a line of NCCL, as most logs are."""
    for text in (STEPS + HANGS, STEPS + HANGS + "[rank2]:[E1126 x] " + DUMP + COUNTS + "\n"):
        found = why.job(heard(log=text))
        assert found is not None
        assert found.stands


def test_a_job_that_went_on_after_a_timeout_does_not_hang() -> None:
    found = why.job(heard(log=HANGS + STEPS))
    assert found is not None
    assert not found.stands
    assert not found.stuck


def test_the_second_run_s_hang_is_the_second_run_s() -> None:
    found = why.job(heard(first=STEPS, second=STEPS + HANGS))
    assert found is not None
    assert found.stands
    first = slow.runs(heard(first=STEPS, second=STEPS + HANGS).times)[0]
    assert first[1].waiting == ()


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
