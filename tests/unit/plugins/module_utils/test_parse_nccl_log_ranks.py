# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of NCCL: whose line it is, whatever stands before it and however ranks are mixed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from tests.unit.nccl_logs import facts, few, info, rank

# Who says the line: each of two ranks has one of these.
HEADS = [
    ("node-a:10:11 [0] NCCL INFO ", "node-b:10:11 [0] NCCL INFO "),
    ("node-a:10:11 [0] NCCL INFO ", "node-a:20:21 [0] NCCL INFO "),
    # Containers that share a name and a process number, told apart by their launcher alone.
    ("[1,0]<stdout>:box:10:11 [0] NCCL INFO ", "[1,1]<stdout>:box:10:11 [0] NCCL INFO "),
    ("[default0]:box:10:11 [0] NCCL INFO ", "[default1]:box:10:11 [0] NCCL INFO "),
    ("[0] box:10:11 [0] NCCL INFO ", "[1] box:10:11 [0] NCCL INFO "),
    ("0: box:10:11 [0] NCCL INFO ", "1: box:10:11 [0] NCCL INFO "),
    ("worker-0 | box:10:11 [0] NCCL INFO ", "worker-1 | box:10:11 [0] NCCL INFO "),
    ("[pod/w-0/main] box:10:11 [0] NCCL INFO ", "[pod/w-1/main] box:10:11 [0] NCCL INFO "),
    (
        "(Worker pid=7, ip=192.0.2.7) box:10:11 [0] NCCL INFO ",
        "(Worker pid=8, ip=192.0.2.8) box:10:11 [0] NCCL INFO ",
    ),
    (
        "2026-03-13T22:26:02.123Z [1,0]<stdout>:box:10:11 [0] NCCL INFO ",
        "2026-03-13T22:26:02.456Z [1,1]<stdout>:box:10:11 [0] NCCL INFO ",
    ),
    # The poster cut the hosts off.
    ("[rank0]: [0] NCCL INFO ", "[rank1]: [0] NCCL INFO "),
]


@pytest.mark.parametrize("heads", HEADS)
@few
@given(seed=st.integers(0, 1_000_000))
def test_mixed_ranks_each_have_the_facts_that_they_have_alone(heads: tuple[str, str], seed: int) -> None:
    logs = [
        [head + line for line in rank(number, network, gdr=gdr)]
        for number, (head, network, gdr) in enumerate(zip(heads, ("IB", "IBext_v8"), ("/GDRDMA", ""), strict=True))
    ]
    alone = [facts("\n".join(log) + "\n")["ranks"] for log in logs]
    assert [len(one) for one in alone] == [1, 1]
    mixed, rest = [], [list(log) for log in logs]
    draw = random.Random(seed)
    while any(rest):
        mixed.append(draw.choice([log for log in rest if log]).pop(0))
        mixed += draw.choice([[], [], ["step 3 loss 0.3"], ["W0313 [user:8]: NCCL is slow"]])
    found = facts("\n".join(mixed) + "\n")
    ranks = sorted(found["ranks"], key=lambda one: one["rank"])
    assert ranks == [alone[0][0], alone[1][0]]
    assert found["gdr"] is False
    assert found["settings_differ"] == ["NCCL_IB_TC"]
    assert sorted(found["nccl_versions"]) == [one["nccl_version"] for one in ranks]


def test_threads_with_a_gpu_each_are_ranks_of_one_process() -> None:
    text = info("Bootstrap: Using eth0:192.0.2.1<0>", "NET/IB : Using [0]mlx5_0:1/IB ; OOB eth0:x<0>")
    for gpu, gdr in ((0, "/GDRDMA"), (1, "")):
        text += info(
            "Using network IB",
            f"comm 0x{gpu}1 rank {gpu} nranks 4 cudaDev {gpu} busId 1 - Init COMPLETE",
            f"Channel 00 : {2 + gpu}[1] -> {gpu}[1] [receive] via NET/IB/0{gdr}",
            head=f"node-a:10:2{gpu} [{gpu}] NCCL INFO ",
        )
    found = facts(text)
    assert [(one["name"], one["rank"], one["gdr"]) for one in found["ranks"]] == [
        ("node-a:10 GPU 0", 0, True),
        ("node-a:10 GPU 1", 1, False),
    ]
    assert {one["bootstrap_if"] for one in found["ranks"]} == {"eth0"}
    assert [one["hcas"] for one in found["ranks"]] == [["mlx5_0"], ["mlx5_0"]]


def test_a_line_that_two_processes_wrote_at_once_is_two() -> None:
    heads = ("node-a:10:11 [0] NCCL INFO ", "node-b:20:21 [0] NCCL INFO ")
    found = facts(
        f"{heads[0]}Using network IB {heads[1]}Using network Socket\n"
        f"  4096  1024 float sum -1 {heads[1]}cudaDriverVersion 12080\n"
    )
    assert [(one["host"], one["backend"], one["cuda_driver"]) for one in found["ranks"]] == [
        ("node-a", "IB", None),
        ("node-b", "Socket", "12.8"),
    ]


def test_an_error_that_a_program_tells_again_is_its_launchers_rank() -> None:
    found = facts(
        "[rank1]:node-b:10:11 [0] NCCL INFO Using network IB\n"
        "[rank0]:node-a:10:11 [0] NCCL INFO Using network IB\n"
        "[rank1]:Last error:\n"
        "[rank1]:Call to ibv_create_cq failed\n"
        "Call to ibv_create_qp failed\n"
    )
    assert [one["errors"] for one in found["ranks"]] == [["create_cq_failed"], []]
    assert found["first_cause"]["rank"] == "node-b:10 GPU 0"
    assert [one["rank"] for one in found["failures"]] == ["node-b:10 GPU 0", ""]


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20 10:00:00,123 INFO node-a:10:11 [0] NCCL INFO Using network IB",
        "[2026-11-20 10:00:00] node-a:10:11 [0] NCCL INFO Using network IB",
        "[2026-11-20 10:00:00.123] [rank3]: node-a:10:11 [0] NCCL INFO Using network IB",
        "Nov 20 10:00:00 node-a slurmstepd[7]: node-a:10:11 [0] NCCL INFO Using network IB",
        "1763632800.123 node-a:10:11 [0] NCCL INFO Using network IB",
        "[trainer3]:node-a:10:11 [0] NCCL INFO Using network IB",
        "\x1b[36m(Worker pid=7)\x1b[0m node-a:10:11 [0] NCCL INFO Using network IB "
        "[repeated 7x across cluster] (Ray deduplicates logs by default.)",
        "junk { of another: program node-a:10:11 [0] NCCL INFO Using network IB",
        "node-a:10:11\t[0]  NCCL  INFO Using network IB".replace("  ", " "),
    ],
)
def test_whatever_stands_before_a_line_it_is_that_process(line: str) -> None:
    found = facts(line + "\n")
    assert [(one["host"], one["pid"], one["device"]) for one in found["ranks"]] == [("node-a", 10, 0)]
    assert found["ranks"][0]["backend"] == "IB"


def test_times_before_the_lines_do_not_make_many_ranks_of_one() -> None:
    lines = [
        f"{head}node-a:10:11 [0] NCCL INFO {said}\n"
        for n, said in enumerate(rank(0, "IB"))
        for head in (f"2026-11-20T10:00:0{n}.12{n}Z ", f"[20261120-10000{n}] ", f"10:00:0{n} ")
    ]
    assert len(facts("".join(lines))["ranks"]) == 1


def test_what_a_rank_prints_as_output_and_as_error_is_one_ranks() -> None:
    head = "box:10:11 [0]"
    found = facts(
        f"[1,3]<stdout>:{head} NCCL INFO Using network IB\n"
        f"[1,3]<stderr>:{head} a.cc:1 NCCL WARN Call to ibv_create_cq failed\n"
    )
    assert [(one["backend"], one["errors"]) for one in found["ranks"]] == [("IB", ["create_cq_failed"])]


def test_a_version_on_a_line_of_its_own_is_the_launchers_ranks() -> None:
    text = (
        "[1,0]<stdout>:node-a:10:11 [0] NCCL INFO Using network IB\n"
        "[1,1]<stdout>:node-b:10:11 [0] NCCL INFO Using network IB\n"
        "[1,0]<stdout>:NCCL version 2.18.5+cuda12.0\n"
    )
    found = facts(text)
    assert [one["nccl_version"] for one in found["ranks"]] == ["2.18.5+cuda12.0", None]
    found = facts(text.replace("[1,0]<stdout>:NCCL version", "NCCL version"))
    assert [one["nccl_version"] for one in found["ranks"]] == [None, None]
    assert found["nccl_version"] == "2.18.5+cuda12.0"


def test_ranks_on_different_networks_are_told() -> None:
    heads = ("node-a:10:11 [0] NCCL INFO ", "node-b:10:11 [0] NCCL INFO ")
    lines = [heads[0] + one for one in rank(0, "IB")] + [heads[1] + "Using network Socket"]
    found = facts("\n".join(lines) + "\n")
    assert found["network"] == "mixed"
    assert [one["network"] for one in found["ranks"]] == ["RoCE", "Socket"]
