# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of NCCL's RAS, text and JSON; those without a source are of NVIDIA/nccl, docs/.../troubleshooting/ras.rst."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_ras
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Waiting
from tests.unit.parsers import SAMPLES

# NVIDIA/nccl#1911: two ranks are ahead of the rest.
AHEAD = """\
NCCL version 2.26.2 compiled with CUDA 12.6
CUDA runtime version 12060, driver version 12060

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32        32   RUNNING  MISMATCH

Errors
======

Warnings
========

#0-0 (fa93daea854b060b) MISMATCH
  Communicator ranks have different AllGather operation counts
  30 ranks have launched up to operation 640
  2 ranks have launched up to operation 641
  Rank 12 -- GPU 4 managed by process 323032 on node 10.137.190.124
  Rank 13 -- GPU 5 managed by process 323033 on node 10.137.190.124
"""
BEGIN = "Communicators... (2.05s)\n=============\n\n"
# 2.24 and 2.25.
BEHIND = """\
#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different status
  26 ranks have status UNKNOWN
  4 ranks have status RUNNING
  Rank 8 -- GPU 0 managed by process 1598388 on node 172.16.64.212
  Communicator ranks have different collective operation counts
  26 ranks have launched up to operation 6650
  6 ranks have launched up to operation 6649
  Rank 0 -- GPU 0 managed by process 483072 on node 172.16.64.210
  Rank 2 -- GPU 2 managed by process 483074 on node 172.16.64.210
"""
OLD_MISSING = """\
Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 3487984 on node 172.16.64.213 managing GPU 5

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  The missing rank: 21

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data
"""
# NVIDIA/nccl#1762, of 2.27.3: a job whose nodes differ, and an answer with what cannot be.
ODD = """\
Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         1         1         2         1   RUNNING  INCOMPLETE
    2         4         0         0         0         0    NOCOMM  INCOMPLETE,MISMATCH

Errors
======

#0-0 (b3398875b8b2a063) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 1 -- GPU 0 managed by process 60004 on node 10.4.109.13

#2-0 (93d7000200000001) INCOMPLETE
  Missing communicator data from 255 ranks
  Rank 1057455228 -- [process information not found]
"""
JSON = {
    "nccl_version": "2.29.1",
    "cuda_runtime_version": 13000,
    "timestamp": "2025-12-19 13:06:53",
    "communicators_count": 1,
    "communicators": [
        {
            "hash": "0xae94423cfbb2ef4a",
            "secondary_hash": "0xb7e7187447156001:0xb8242ed28a71381e",
            "size": 2,
            "ranks_count": 1,
            "missing_ranks_count": 1,
            "ranks": [
                {
                    "rank": 0,
                    "host": "172.16.64.245",
                    "pid": 1524344,
                    "cuda_dev": 0,
                    "nvml_dev": 0,
                    "status": {"init_state": 0, "async_error": 0, "finalize_called": False},
                    "collective_counts": {"Broadcast": 0, "AllReduce": 7},
                }
            ],
            "missing_ranks": [
                {
                    "rank": 1,
                    "host": "172.16.64.245",
                    "pid": 1524345,
                    "cuda_dev": 1,
                    "nvml_dev": 1,
                    "status": {"unresponsive": True, "considered_dead": False},
                }
            ],
        }
    ],
    "ras": {"collection_time_sec": 0.000, "timeouts_count": 0},
}


def waiting(text: str) -> list[Waiting]:
    return list(nccl_ras.times(nccl_ras.parse(text)).waiting)


def test_ranks_ahead_of_the_rest() -> None:
    told = nccl_ras.parse(AHEAD)
    assert (told.version, told.seconds, told.groups[0].errors) == ("2.26.2", 0.0, "MISMATCH")
    assert waiting(AHEAD) == [
        Waiting("12", "10.137.190.124", "fa93daea854b060b", 641, "all_gather", state="ahead"),
        Waiting("13", "10.137.190.124", "fa93daea854b060b", 641, "all_gather", state="ahead"),
    ]
    assert nccl_ras.wrong(told) == ()


def test_ranks_behind_the_rest() -> None:
    assert [(one.rank, one.sequence, one.operation, one.state) for one in waiting(BEGIN + BEHIND)] == [
        ("0", 6649, "", "behind"),
        ("2", 6649, "", "behind"),
    ]
    alone = (
        "#0-0 (27a079b828ff1a75) MISMATCH\n  Communicator ranks have different AllReduce operation counts\n"
        "  31 ranks have launched up to operation 12\n"
        "  Rank 5 has not launched any operations -- GPU 1 managed by process 7 on node n2\n"
    )
    assert waiting(BEGIN + alone) == [Waiting("5", "n2", "27a079b828ff1a75", 0, "all_reduce", state="behind")]


def test_ranks_that_are_missing() -> None:
    told = nccl_ras.parse(BEGIN + OLD_MISSING)
    assert [problem.kind for problem in told.problems] == ["INCOMPLETE", "INCOMPLETE", "TIMEOUT"]
    assert waiting(BEGIN + OLD_MISSING) == [Waiting("", group="cf264af53edbe986", state="missing", missing=("21",))]
    assert nccl_ras.wrong(told)[1] == (
        "NCCL RAS tells INCOMPLETE of communicator cf264af53edbe986: Missing communicator data from 1 rank; "
        "The missing rank: 21"
    )
    odd = nccl_ras.parse(ODD)
    assert [(one.rank, one.host, one.pid) for one in odd.outliers] == [
        ("1", "10.4.109.13", 60004),
        ("1057455228", "", 0),
    ]
    assert len(odd.groups) == 2


def test_json() -> None:
    text = json.dumps(JSON, indent=2)
    told = nccl_ras.parse(text)
    assert (told.version, told.groups[0].ranks) == ("2.29.1", 2)
    assert waiting(text) == [Waiting("", group="ae94423cfbb2ef4a", state="missing", missing=("1",))]
    assert nccl_ras.parse(f"SERVER PROTOCOL 4\nOK\n{text}") == told
    assert nccl_ras.wrong(told) == (
        "NCCL RAS tells INCOMPLETE of communicator ae94423cfbb2ef4a: rank 1 on 172.16.64.245 gave no data",
    )
    ranks = [{"rank": at, "host": "n", "collective_counts": {"AllReduce": 9 - (at == 2)}} for at in range(4)]
    ranks[0]["status"] = {"async_error": 6}
    late = {"nccl_version": "2.30.7", "communicators": [{"hash": "0x1", "size": 4, "ranks": ranks}]}
    told = nccl_ras.parse(json.dumps(late))
    assert waiting(json.dumps(late)) == [Waiting("2", "n", "0000000000000001", 8, "all_reduce", state="behind")]
    assert [problem.kind for problem in told.problems] == ["ERROR"]


def test_a_cut_answer_tells_what_it_has() -> None:
    told = nccl_ras.parse((SAMPLES / "nccl_ras.txt").read_text())
    assert [(one.rank, one.state) for one in told.outliers] == [("21", "missing"), ("12", "behind"), ("13", "behind")]
    assert nccl_ras.parse(AHEAD[: AHEAD.index("Rank 13")]).outliers[-1].rank == "12"
    with pytest.raises(ParseError):
        nccl_ras.parse(json.dumps(JSON)[:-1])


@pytest.mark.parametrize(
    "text", ["", "{}", '{"communicators": []}', "Errors\n======\n", "Connection refused\n", "[1]", "{" * 10_000]
)
def test_texts_of_others(text: str) -> None:
    with pytest.raises(ParseError):
        nccl_ras.parse(text)


def test_every_rank_is_told_however_many_are_missing() -> None:
    job = {"nccl_version": "2.30.7", "communicators": [{"hash": "0x1", "missing_ranks": [{"rank": 1}] * 100_001}]}
    assert len(nccl_ras.parse(json.dumps(job)).outliers) == 100_001
