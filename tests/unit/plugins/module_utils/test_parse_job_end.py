# SPDX-License-Identifier: GPL-3.0-or-later
"""How a job ended: who failed first, and not who was ended because of it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import job_end

MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
TORCHRUN = """\
E0601 10:20:01.000000 1234 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-06-01_10:20:01
  host      : node1
  rank      : 3 (local_rank: 3)
  exitcode  : -9 (pid: 1238)
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 1238
============================================================
"""


def ends(text: str) -> list[tuple[str, str, str]]:
    return [(end.rank, end.host, end.what) for end in job_end.times(job_end.parse(text)).ends]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (f"[rank3]: {MEMORY}\n", ("3", "", "torch.OutOfMemoryError: CUDA out of memory")),
        (f"5: {MEMORY}\n", ("5", "", "torch.OutOfMemoryError: CUDA out of memory")),
        (f"5: [rank5]: {MEMORY}\n", ("5", "", "torch.OutOfMemoryError: CUDA out of memory")),
        ("srun: error: node7: task 56: Killed\n", ("56", "node7", "Killed")),
        (
            "srun: error: node7: task 56: Segmentation fault (core dumped)\n",
            ("56", "node7", "Segmentation fault (core dumped)"),
        ),
        (
            "slurmstepd: error: *** STEP 123456.0 ON node1 CANCELLED AT 2025-06-01T10:20:00 DUE TO TIME LIMIT ***\n",
            ("", "node1", "time limit"),
        ),
        (
            "mpirun noticed that process rank 3 with PID 77 on node node2 exited on signal 9 (Killed).\n",
            ("3", "node2", "signal 9 (Killed)"),
        ),
        (TORCHRUN, ("3", "node1", "ended by SIGKILL")),
        (f"[rank3]: {MEMORY}\n{TORCHRUN}", ("3", "node1", "torch.OutOfMemoryError: CUDA out of memory")),
    ],
)
def test_who_failed_first_is_read(text: str, first: tuple[str, str, str]) -> None:
    assert ends(text)[0] == first


def test_of_several_hosts_words_on_the_first_the_earliest_counts() -> None:
    later = TORCHRUN.replace("node1", "node2").replace(": 3 (", ": 9 (").replace("10:20:01", "10:20:05")
    for text in (TORCHRUN + later, later + TORCHRUN):
        assert ends(text)[0][:2] == ("3", "node1")


def test_what_a_watchdog_ended_did_not_fail_by_itself() -> None:
    watchdog = (
        "[rank3]:[E601 10:20:00.1 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation timeout: "
    )
    with pytest.raises(ParseError):
        job_end.parse(f"{watchdog}...\n[rank3]: RuntimeError: the queue is gone\n{TORCHRUN}")
    assert ends(f"[rank5]: {MEMORY}\n{watchdog}...\n{TORCHRUN}") == [
        ("5", "", "torch.OutOfMemoryError: CUDA out of memory")
    ]


def test_a_rank_that_two_tell_of_is_one_with_its_host() -> None:
    text = f"[rank9]: {MEMORY}\nsrun: error: node2: task 9: Exited with exit code 1\n"
    assert ends(text) == [("9", "node2", "torch.OutOfMemoryError: CUDA out of memory")]


@pytest.mark.parametrize(
    "line",
    [
        "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited",
        "srun: error: node1: tasks 0-7: Terminated",
        "[rank1]: RuntimeError: Connection reset by peer",
        "[rank0]: KeyboardInterrupt: interrupted by somebody",
        "0: torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 15 of Error",
        "[rank0]: torch.distributed.elastic.multiprocessing.errors.SignalError: Process 77 got signal: 15",
        "step 3 loss 2.1",
        "ValueError: of a program that names no rank",
    ],
)
def test_what_follows_from_another_failure_is_none_of_its_own(line: str) -> None:
    with pytest.raises(ParseError):
        job_end.parse(f"{line}\n")


def test_tasks_that_srun_ends_itself_failed_by_nothing_of_their_own() -> None:
    killed = "srun: error: n1: task 7: Killed\n"
    (end,) = job_end.parse(killed).ends
    assert (end.rank, end.what) == ("7", "Killed")
    with pytest.raises(ParseError):
        job_end.parse(f"srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n{killed}")
