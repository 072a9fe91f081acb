# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of programs that measure, and of tools of settings, as `ibready parse` prints them."""

from __future__ import annotations

import importlib
import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils import _parse
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    dkms_status,
    mlnx_qos,
    mlxlink,
    mpi_log,
    nccl_tests,
    nvlink_throughput,
    perftest,
    rc_pingpong,
    rping,
)
from tests.unit.corpus import CORPUS
from tests.unit.parsers import SAMPLES

TEXTS = CORPUS.parent / "corpus-2"
needed = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"no corpus at {TEXTS} (set IBREADY_CORPUS)")
NAMES = (
    "dkms_status",
    "mlnx_qos",
    "mlxlink",
    "mpi_log",
    "nccl_tests",
    "nvlink_throughput",
    "ompi_info",
    "perftest",
    "rc_pingpong",
    "rping",
    "ucx_info",
)
LINE = "-" * 87
# In the form of nccl-tests before 2.11: its column redop is blank for what sums nothing.
ALLTOALL = """# nThread 1 nGpus 8 minBytes 1 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 0
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
          32             1   float            89.00    0.10    0.09    N/A    85.13    0.12    0.11    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.10
"""
HEAD = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
ROW = " 65536      5000             397.00            {}              0.1"
WAITING = "************************************\n* Waiting for client to connect... *\n"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_facts_and_nothing_has_none(name: str) -> None:
    module = importlib.import_module(f"{_parse.__name__}.{name}")
    facts = module.facts(module.parse(sample(name)))
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert set(module.NOTHING) == set(facts)
    assert not any(module.NOTHING.values())


@needed
def test_all_to_all_of_the_corpus() -> None:
    told = nccl_tests.parse((TEXTS / "nccl_tests/sb-nccl_alltoall.txt").read_text())
    assert (len(told.rows), told.average, told.peak, told.wrong) == (34, 58.6481, 226.16, None)
    assert told.rows[-1].size == 8589934592
    assert (told.rows[-1].in_place.time_us, told.rows[-1].in_place.algbw) == (33234, 258.47)


def test_a_column_that_is_blank() -> None:
    (row,) = nccl_tests.facts(nccl_tests.parse(ALLTOALL))["rows"]
    assert row["out_of_place"] == {"time_us": 89.0, "algbw": 0.1, "busbw": 0.09, "wrong": None}
    assert row["in_place"] == {"time_us": 85.13, "algbw": 0.12, "busbw": 0.11, "wrong": None}
    assert nccl_tests.wrong(nccl_tests.parse(ALLTOALL)) == ()
    bad = nccl_tests.parse(ALLTOALL.replace("values : 0 OK", "values : 3 FAILED"))
    assert nccl_tests.wrong(bad) == ("nccl-tests found 3 wrong values",)


@needed
def test_both_ends_in_one_text_of_the_corpus() -> None:
    told = perftest.parse((TEXTS / "perftest/sb-ib_loopback_8M_size.txt").read_text())
    assert [(row.size, row.iterations, round(row.gbps, 1)) for row in told.bandwidth] == [(8388608, 20000, 201.8)]
    assert (told.peer_bandwidth, dict(told.about)["Device"]) == ((), "ib0")
    told = perftest.parse((TEXTS / "perftest/sb-ib_loopback_all_sizes.txt").read_text())
    assert [row.size for row in told.bandwidth] == [2**n for n in range(1, 24)]
    assert told.peer_bandwidth == ()


def test_both_ends_that_say_different_things() -> None:
    client, server = (f"{LINE}\n{HEAD}\n{ROW.format(gbps)}\n{LINE}\n" for gbps in (396.1, 395.9))
    told = perftest.facts(perftest.parse(client + WAITING + server))
    assert ([row["gbps"] for row in told["bandwidth"]], [row["gbps"] for row in told["peer_bandwidth"]]) == (
        [396.1],
        [395.9],
    )
    # Without a server they are two runs.
    with pytest.raises(ParseError, match="2 tables"):
        perftest.parse(client + server)


@pytest.mark.parametrize(
    "text",
    [
        # ibstat, and the fabric's part of nvidia-smi -q.
        "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n",
        "    Fabric\n        State                                          : Completed\n        Status   : Success\n",
    ],
)
def test_other_states_are_not_mlxlinks(text: str) -> None:
    with pytest.raises(ParseError):
        mlxlink.parse(text)


def test_facts_of_each() -> None:
    assert mlnx_qos.facts(mlnx_qos.parse(sample("mlnx_qos")))["trust"] in ("dscp", "pcp")
    assert dkms_status.facts(()) == {"modules": []}
    links = nvlink_throughput.facts(nvlink_throughput.parse(sample("nvlink_throughput")))["gpus"]
    assert links[0]["links"][1] == {"id": 1, "tx_bytes": 0, "rx_bytes": 2**20}
    assert links[1]["links"] == [{"id": 0, "tx_bytes": 7 * 2**10}]
    told = mlxlink.facts(mlxlink.parse(sample("mlxlink")))
    assert (told["state"], told["module"][0]["name"]) == ("Active", "temperature")
    ranks = mpi_log.facts(mpi_log.parse(sample("mpi_log")))["ranks"]
    assert [rank["host"] for rank in ranks] == ["node1", "node2"]


def test_what_is_wrong() -> None:
    assert rping.wrong(rping.parse(sample("rping"))) == ()
    assert rping.wrong(rping.parse("data mismatch!\n")) == (
        "rping got other data back than it had sent, after 0 pings",
    )
    bad = rc_pingpong.parse(sample("rc_pingpong") + "invalid data in page 3\n")
    assert rc_pingpong.wrong(bad) == ("the buffer holds other data than what was sent (pages: 1)",)
    log = mpi_log.parse("ibready-smoke rank=1 size=2 host=node2 wrong 3 of 8 values\n")
    assert mpi_log.wrong(log) == ("rank 1 on node2 got a wrong sum: 3 of 8 values",)
