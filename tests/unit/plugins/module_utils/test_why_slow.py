# SPDX-License-Identifier: GPL-3.0-or-later
"""`ibready why` of a slow or a hung job: times from several texts, one answer."""

from __future__ import annotations

import json
import random

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import DEGRADED, NOT_READY, READY, UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._verify import why
from ansible_collections.ibready.cluster.plugins.module_utils._verify.slow import Job
from tests.unit.parsers import SAMPLES


def steps(late: str = "", communication: float = 0.1, count: int = 40) -> str:
    """A CSV of four ranks on two hosts; ``late``: the rank that computes half as long again."""
    rand = random.Random(7)
    rows = ["rank,host,step,seconds,compute,communication,input"]
    for step in range(count):
        worst = 1.5 if late else 1.0
        for rank in range(4):
            noise = rand.uniform(0.99, 1.01)
            mine = (1.5 if str(rank) == late else 1.0) * noise
            wait = communication + worst - mine
            rows.append(f"{rank},node{rank // 2},{step},{mine + wait + 0.01:.4f},{mine:.4f},{wait:.4f},0.01")
    return "\n".join(rows) + "\n"


def asked(*texts: str) -> tuple[why.Heard, Job]:
    heard = why.Heard()
    for number, text in enumerate(texts):
        heard.give(f"trace_rank_{number}", text.encode())
    job = why.job(heard)
    assert job is not None
    return heard, job


def verdict(heard: why.Heard, job: Job) -> str:
    return why.verdict(why.judged(heard, from_inventory({})), heard, job)


def test_a_rank_that_all_wait_for_is_named_with_its_host() -> None:
    heard, job = asked(steps(late="2"))
    assert "rank 2" in job.head
    assert "node1" in " ".join((job.head, *job.because))
    assert (job.known, job.late, verdict(heard, job)) == (True, True, DEGRADED)


def test_a_job_that_communicates_most_of_the_time_is_told_what_to_change() -> None:
    config = {"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 1, "zero_optimization": {"stage": 1}}
    heard, job = asked(steps(communication=0.9), json.dumps(config))
    assert "communication" in job.head
    assert any("accumulat" in change for change in job.changes)
    assert (heard.unread, verdict(heard, job)) == ([], READY)


def test_a_job_that_computes_is_well() -> None:
    heard, job = asked(steps())
    assert "computation" in job.head
    assert verdict(heard, job) == READY


def test_few_steps_are_no_answer() -> None:
    heard, job = asked(steps(count=2))
    assert (job.known, verdict(heard, job)) == (False, UNKNOWN)


def record(done: int) -> str:
    """What PyTorch's flight recorder of a rank tells: so many collectives are done, and the next is begun."""
    entries = [
        {
            "record_id": number,
            "pg_id": 0,
            "process_group": ["0", "default_pg"],
            "collective_seq_id": number,
            "p2p_seq_id": 0,
            "op_id": number,
            "profiling_name": "nccl:all_reduce",
            "input_sizes": [[1024]],
            "input_dtypes": ["Float"],
            "output_sizes": [[1024]],
            "output_dtypes": ["Float"],
            "state": "completed" if number <= done else "started",
            "is_p2p": False,
        }
        for number in range(1, done + 2)
    ]
    seen = {"last_enqueued_collective": done + 1, "last_started_collective": done + 1}
    status = {"0": {**seen, "last_completed_collective": done}}
    groups = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
    return json.dumps({"version": "2.9", "pg_config": groups, "pg_status": status, "entries": entries})


def test_a_hung_job_tells_who_waits_for_whom() -> None:
    heard, job = asked(record(7), record(5))
    assert job.head == "the job stands still: it waits for rank 1"
    assert "py-spy" in job.changes[0]
    assert verdict(heard, job) == NOT_READY


def test_a_pickle_that_would_run_something_is_unread() -> None:
    heard = why.Heard()
    heard.give("nccl_trace_rank_0", b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R.")
    assert "nccl_trace_rank_0" in heard.unread[0]
    assert why.verdict([], heard) == UNKNOWN


def test_every_sample_of_times_is_one_of_a_job() -> None:
    for name in ("megatron_log", "deepspeed_log", "step_csv", "progress_bar", "nccl_inspector", "kineto", "nccl_ras"):
        _heard, job = asked((SAMPLES / f"{name}.txt").read_text())
        assert job.head


def test_two_runs_are_held_against_each_other() -> None:
    _heard, job = asked(steps(), steps(communication=0.5))
    assert job.head.startswith("trace_rank_1: ")
    assert any("communication" in line for line in job.because[:3])
    _heard, job = asked(steps(late="1"))
    assert "trace_rank" not in job.head


def test_two_files_of_dmon_are_two_hosts() -> None:
    head = "# gpu     sm    mem    enc    dec    jpg    ofa\n# Idx      %      %      %      %      %      %\n"

    def dmon(percent: int) -> str:
        rows = "".join(f"{gpu:5} {percent:6} 0 0 0 0 0\n" for gpu in range(8))
        return head + rows * 6

    _heard, job = asked(dmon(20), dmon(98))
    assert "59" not in " ".join((job.head, *job.because))
    assert "trace_rank_0" in " ".join((job.head, *job.because))
