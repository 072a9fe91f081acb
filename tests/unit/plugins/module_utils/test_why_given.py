# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators give: several texts in a file, cut ones, ranks in names of files, jobs that ended or were stopped."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._slow import jumps
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from ansible_collections.ibready.cluster.plugins.module_utils._verify.slow import Job

NCCL = (
    "{host}:471{rank}:471{rank} [0] NCCL INFO Using network Socket\n"
    "{host}:471{rank}:480{rank} [0] NCCL INFO ncclCommInitRank comm 0x55d rank {rank} nranks 2 cudaDev 0 nvmlDev 0 "
    "busId 0000 commId 0xabc - Init COMPLETE\n"
)
SOCKET = NCCL.format(host="node1", rank=0) + NCCL.format(host="node2", rank=1)
MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
WORK = (
    "[rank{rank}]:[E601 10:20:00.1 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=481, OpType=ALLREDUCE, NumelIn={elements}, NumelOut={elements}, Timeout(ms)=600000) ran "
    "for 600000 milliseconds before timing out.\n"
    "[rank{rank}]:[E601 10:20:00.2 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank {rank}]  failure "
    "detected by watchdog at work sequence id: 481 PG status: last enqueued work: 482, last completed work: 480\n"
)


def megatron(steps: int = 40, communication: float = 900.0) -> str:
    """Megatron-LM's lines with timers over ranks, of steps of two seconds."""
    lines = []
    for step in range(1, steps + 1):
        lines.append(
            f" [2025-06-01 10:00:00] iteration {step:8d}/   10000 | consumed samples: {step * 64:12d} | "
            f"elapsed time per iteration (ms): 2080.0 | learning rate: 1.0E-04 | batch:    64 | loss: 2.0E+00 |"
        )
        lines.append("(min, max) time across ranks (ms):")
        lines.append("    forward-backward ..............................: (1100.00, 1102.00)")
        lines.append(
            f"    all-grads-sync ................................: ({communication:.2f}, {communication + 2:.2f})"
        )
    return "\n".join(lines) + "\n"


def table(seconds: Callable[[int, int], tuple[float, float]], ranks: int = 8, steps: int = 60) -> str:
    """A CSV by ``seconds(rank, step)``: computation and communication."""
    rows = ["rank,step,seconds,compute,communication"]
    for step in range(steps):
        for rank in range(ranks):
            compute, communication = seconds(rank, step)
            rows.append(f"{rank},{step},{compute + communication:.4f},{compute:.4f},{communication:.4f}")
    return "\n".join(rows) + "\n"


def of(**texts: str) -> Job:
    found = why.job(heard(**texts))
    assert found is not None
    return found


def heard(**texts: str) -> why.Heard:
    given = why.Heard()
    for label, text in texts.items():
        given.take(label, text)
    return given


@pytest.mark.parametrize("text", [SOCKET + megatron(), megatron() + SOCKET, SOCKET + megatron(steps=5)])
def test_ncclls_log_and_the_times_of_steps_are_read_of_one_file(text: str) -> None:
    given = heard(log=text)
    assert {"nccl_log", "megatron_log"} <= {tool for texts in given.texts.values() for tool in texts}
    found = of(log=text)
    assert found.head.startswith("the job is bound by communication")
    assert "network is Socket, which is TCP" in found.because[0]
    assert found.changes[0].startswith("Have NCCL use RDMA")


def test_of_a_trace_that_is_cut_no_step_counts() -> None:
    events = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 1000 * step, "dur": 1000}
        for step in range(10)
    ]
    events += [
        {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 1000 * s, "dur": 900, "args": {"device": 0}}
        for s in range(10)
    ]
    whole = json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events})
    assert of(trace=whole).kind == "computation"
    cut = heard(trace=whole[: int(0.9 * len(whole))])
    assert why.job(cut) is None
    (host,) = why.judged(cut, from_inventory({}))
    assert host.partly == ("the text of kineto is cut",)


def test_a_rank_that_tells_nothing_is_named_and_not_the_network() -> None:
    text = "".join(WORK.format(rank=rank, elements=8) for rank in range(16) if rank != 5)
    assert of(log=text).head == "the job stands still: nothing is told of rank 5"
    assert of(log=f"[rank5]: {MEMORY}\n{text}").head == "the job ended: rank 5 failed"
    every = "".join(WORK.format(rank=rank, elements=8) for rank in range(16))
    assert of(log=every).head == "the job stands still"


def test_ranks_that_send_other_sizes_do_not_fit() -> None:
    text = "".join(WORK.format(rank=rank, elements=1024 if rank == 5 else 26214400) for rank in range(16))
    found = of(log=text)
    assert found.head == "the job stands still: it waits for rank 5"
    assert "Rank 5 began all_reduce of 1024 elements" in found.stuck[0]


@pytest.mark.parametrize("at", [15, 30, 150, 285])
@pytest.mark.parametrize("factor", [1.2, 2.0, 5.0])
def test_a_job_that_became_slower_for_good_is_judged_from_then_on(at: int, factor: float) -> None:
    noise = random.Random(f"{at} {factor}")

    def seconds(_rank: int, step: int) -> tuple[float, float]:
        more = (factor - 1) if step >= at else 0.0
        return 0.8 * noise.uniform(0.98, 1.02), 0.2 + more

    found = of(csv=table(seconds, ranks=2, steps=300))
    assert found.because[0].startswith(f"From step {at} on a step takes ")
    assert "(communication " in found.because[0]
    assert not any("now and then" in line or "grow longer" in line for line in found.because)


def test_what_drifts_or_halts_now_and_then_is_no_jump() -> None:
    noise = random.Random(24)
    drift = [1 + 0.002 * step + noise.gauss(0, 0.01) for step in range(300)]
    halts = [1 + noise.gauss(0, 0.01) + (9 if step % 50 == 49 else 0) for step in range(300)]
    assert jumps.jump(drift) == jumps.jump(halts) == 0
    for seed in range(200):
        noise = random.Random(seed)
        assert jumps.jump([noise.lognormvariate(0, 0.1) for _step in range(noise.randint(20, 400))]) == 0


def test_the_time_in_which_a_job_was_queued_again_counts_nowhere() -> None:
    def seconds(_rank: int, step: int) -> tuple[float, float]:
        return 0.9, 0.1 + (6 * 3600 if step in (20, 40) else 0)

    found = of(csv=table(seconds))
    assert found.because[0] == (
        "The job stood for 12.0 h at steps 20 and 40 (stopped, queued again or suspended): that is counted in no share."
    )
    assert found.kind == "computation"


def test_a_long_checkpoint_that_is_told_is_no_stop() -> None:
    rows = ["rank,step,seconds,compute,communication,checkpoint"]
    for step in range(60):
        saved = 900 if step % 20 == 19 else 0
        rows += [f"{rank},{step},{1 + saved},0.8,0.2,{saved}" for rank in range(4)]
    found = of(csv="\n".join(rows) + "\n")
    assert not any("stood" in line for line in found.because)
    assert any("a checkpoint is written" in line for line in found.because)


def test_of_idle_ranks_the_furthest_behind_is_waited_for() -> None:
    line = (
        "[rank{0}]:[E601 10:20:00.2 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Received a "
        "dump signal due to a collective timeout from  rank 1 and we will try. Last enqueued NCCL work: {1}, "
        "last completed NCCL work: {1}.\n"
    )
    assert of(log=line.format(2, 12) + line.format(3, 10)).head == "the job stands still: it waits for rank 3"


@pytest.mark.parametrize(
    ("end", "head"),
    [
        (f"[rank9]: {MEMORY}\nsrun: error: node2: task 9: Exited with exit code 1\n", "rank 9 (node2) failed"),
        ("srun: error: node2:  task 9:\tKilled\n", "rank 9 (node2) failed"),
    ],
)
def test_how_a_job_ended_comes_before_what_it_was_bound_by(end: str, head: str) -> None:
    found = of(log=megatron() + end)
    assert found.head == f"the job ended: {head}"
    assert "Before that: the job is bound by communication." in found.because
    given = heard(log=megatron() + end)
    assert why.verdict(why.judged(given, from_inventory({})), given, found) == "not_ready"
    # Of the step in which it failed the others may tell; of more only a job that was started again.
    assert of(log=megatron(10) + end + megatron(1)).head == f"the job ended: {head}"
    assert of(log=end + megatron()).head.startswith("the job is bound by communication")


def test_that_a_task_ended_is_no_cause_beside_what_kept_it_from_beginning() -> None:
    end = "srun: error: node2: task 0: Exited with exit code 1\n"
    kept = "slurmstepd: error: pyxis: failed to import docker image\n"
    assert why.job(heard(log=kept + end)) is None
    assert of(log=end).head == "the job ended: rank 0 (node2) failed"
    # What is told of the memory is a reason, and a job that made steps began.
    assert of(log=kept + f"[rank0]: {MEMORY}\n" + end).head == "the job ended: rank 0 (node2) failed"
    assert of(log=megatron() + kept + end).head == "the job ended: rank 0 (node2) failed"


ABORTED = """\
Root Cause (first observed failure):
[0]:
  time      : 2025-06-01_10:30:01
  host      : node1
  rank      : 3 (local_rank: 3)
  exitcode  : -6 (pid: 1238)
  error_file: <N/A>
  traceback : Signal 6 (SIGABRT) received by PID 1238
"""


@pytest.mark.parametrize("apart", [False, True])
def test_who_was_quickest_to_abort_is_not_who_was_waited_for(apart: bool) -> None:
    text = "".join(WORK.format(rank=rank, elements=8) for rank in range(16) if rank != 5)
    files = {"log": text, "launcher": ABORTED} if apart else {"log": text + ABORTED}
    assert of(**files).head == "the job stands still: nothing is told of rank 5"


def test_a_job_that_torchrun_started_again_goes_on() -> None:
    killed = ABORTED.replace("SIGABRT", "SIGKILL").replace("-6", "-9").replace("Signal 6", "Signal 9")
    assert of(log=megatron(5) + killed + megatron()).head.startswith("the job is bound by communication")
    assert of(log=megatron(5) + killed).head == "the job ended: rank 3 (node1) failed"


def test_many_failures_hide_no_steps() -> None:
    failures = "".join(f"[rank{rank}]: {MEMORY}\n" for rank in range(64))
    found = of(log=megatron(6) + failures)
    assert found.head == "the job ended: rank 0 failed"
    assert "Before that: the job is bound by communication." in found.because
    assert of(log=failures + megatron()).head.startswith("the job is bound by communication")


def test_a_rank_that_tells_no_more_is_said() -> None:
    text = table(lambda rank, step: (0.9, 0.1))
    cut = "\n".join(line for line in text.splitlines() if not line.startswith("6,") or int(line.split(",")[1]) < 30)
    assert of(csv=f"{cut}\n").because[0].startswith("Rank 6 tells of no step after 29, the others go on to 59")


def test_files_of_a_rank_each_are_of_one_run() -> None:
    files = {}
    for rank in range(4):
        own = table(lambda _rank, step, late=rank == 2: (0.9, 0.1) if late else (0.5, 0.5), ranks=1)  # type: ignore[misc]
        files[f"steps_rank{rank}.csv"] = "\n".join(line.partition(",")[2] for line in own.splitlines()) + "\n"
    assert of(**files).head == "the job waits for rank 2"


def test_a_run_that_is_not_used_is_named() -> None:
    own = [table(lambda rank, step, of_run=run: (1.0 + of_run, 0.1)) for run in range(3)]  # type: ignore[misc]
    found = of(first=own[0], second=own[1], third=own[2])
    assert "These are 3 runs, for they have the same steps: second is not used." in found.because


def test_fewer_ranks_come_first_in_whatever_order_they_are_given() -> None:
    small = table(lambda rank, step: (0.9, 0.1), ranks=2)
    large = table(lambda rank, step: (0.9, 0.9), ranks=8)
    for files in ({"a": large, "b": small}, {"b": small, "a": large}):
        assert of(**files).head.startswith("a: the job is bound by communication")


def test_lines_of_json_are_a_table() -> None:
    rows = [json.dumps({"config": {"lr": 1e-4}, "world": 4})]
    for step in range(40):
        for rank in range(4):
            late = rank == 3
            rows.append(
                json.dumps(
                    {"ts": "2025-06-01T10:00:00Z", "rank": rank, "step": step, "step_time_s": 1.1}
                    | {"compute_s": 0.9 if late else 0.5, "comm_s": 0.2 if late else 0.6}
                )
            )
        rows.append(json.dumps({"step": step, "loss": 2.5}))
    given = heard(log="\n".join(rows) + "\n")
    found = why.job(given)
    assert found is not None
    assert found.head == "the job waits for rank 3"
    assert all(not host.partly for host in why.judged(given, from_inventory({})))


def test_a_clock_that_was_begun_elsewhere_is_a_clock() -> None:
    rows = ["rank,step,seconds", *(f"{rank},{step},{100 + 1.01 * step:.3f}" for step in range(40) for rank in range(2))]
    (line,) = [line for line in of(csv="\n".join(rows) + "\n").because if "usually" in line]
    assert "usually 1.01 s" in line


def test_a_busy_gpu_with_a_low_clock_is_named() -> None:
    rows = ["# gpu    pwr  gtemp    sm   mem  pclk", "# Idx      W      C     %     %   MHz"]
    for _look in range(10):
        rows += [f"    {gpu}   650     60    99    40  {345 if gpu == 3 else 1755}" for gpu in range(8)]
    found = of(dmon="\n".join(rows) + "\n")
    assert "GPU 3" in found.head
    assert "runs at 345 MHz, the others at 1755 MHz" in found.because[0]
    assert "(likely)" in found.head


def test_a_host_with_other_gpus_is_in_doubt() -> None:
    files = {}
    for number, clock in enumerate((1980, 1980, 1410)):
        rows = ["# gpu    pwr  gtemp    sm   mem  pclk", "# Idx      W      C     %     %   MHz"]
        rows += [f"    {gpu}   650     60    99    40  {clock}" for _look in range(5) for gpu in range(4)]
        files[f"node{number}"] = "\n".join(rows) + "\n"
    found = of(**files)
    assert "(possible)" in found.head
    assert "another model" in found.because[1]


def test_nothing_is_made_of_five_steps_of_noise() -> None:
    accused = 0
    for seed in range(60):
        noise = random.Random(seed)
        text = table(lambda rank, step: (noise.gauss(0.5, 0.03), 0.2), steps=5)  # noqa: B023
        accused += of(csv=text).late
    assert accused <= 1


@pytest.mark.parametrize(("data", "kind"), [(b"\x1f\x8b\x08\0abc", "gzip"), (b"PK\x03\x04abc", "zip")])
def test_what_is_packed_is_not_guessed(data: bytes, kind: str) -> None:
    given = why.Heard()
    given.give("job.log.gz", data)
    assert given.unread == [f"job.log.gz: it is packed ({kind}); next: unpack it, and give what is in it"]
