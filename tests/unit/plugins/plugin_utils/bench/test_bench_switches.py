# SPDX-License-Identifier: GPL-3.0-or-later
"""The same job with one thing switched off: what is switched, by which environment, and what it is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import switches
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.plan import Member
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.reported import Reported
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail

BOTH = ("nccl", "mpi")


def host(name: str, rails: tuple[str, ...] = ("mlx5_0/1", "mlx5_1/1"), gpus: int = 0) -> Reported:
    known = {rail: Rail(rail, rail.partition("/")[0], 1, 0) for rail in rails}
    return Reported(name, Member("192.0.2.1", known), gpus=("NVIDIA H100",) * gpus)


def test_a_job_between_gpus_is_switched_by_nccl_s_variables() -> None:
    hosts = [host("node1", gpus=8), host("node2", ("mlx5_4/1", "mlx5_5/1"), gpus=8)]
    made = {one["name"]: one for one in switches.plan(hosts, ["rails", "rdma", "nvls", "gpudirect"], BOTH)}
    assert {one["job"] for one in made.values()} == {"nccl"}
    assert made["rdma"]["environment"]["node1"] == {"NCCL_NET": "Socket"}
    assert made["nvls"]["environment"]["node2"] == {"NCCL_NVLS_ENABLE": "0"}
    assert {name: env["NCCL_IB_HCA"] for name, env in made["rails"]["environment"].items()} == {
        "node1": "=mlx5_0",
        "node2": "=mlx5_4",
    }


def test_without_gpus_the_job_is_that_over_mpi_and_what_it_does_not_have_is_said() -> None:
    made = {one["name"]: one for one in switches.plan([host("node1"), host("node2")], ["rdma", "nvls"], BOTH)}
    assert made["rdma"]["job"] == "mpi"
    assert made["rdma"]["environment"]["node2"]["UCX_TLS"] == "tcp,self,sm"
    assert (made["nvls"]["untested"], made["nvls"]["environment"]) == ("only a job between GPUs has it", {})


@pytest.mark.parametrize(
    ("hosts", "names", "what", "why"),
    [
        ([host("node1"), host("node2", ("mlx5_0/1",))], ["rails"], BOTH, "node2 has no second rail"),
        ([host("node1"), host("node2")], ["rdma"], ("nccl",), "bench_what leaves mpi out"),
        ([host("node1")], ["rdma"], BOTH, "one host"),
    ],
)
def test_what_cannot_be_switched_says_why(
    hosts: list[Reported], names: list[str], what: tuple[str, ...], why: str
) -> None:
    (made,) = switches.plan(hosts, names, what)
    assert why in made["untested"]


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="bench_ab: 'tcp' is none of rdma"):
        switches.plan([host("node1")], ["tcp"], BOTH)


def told(name: str, busbw: float | None, untested: str = "") -> dict[str, Any]:
    nodes = {} if busbw is None else {"busbw": busbw}
    return {"name": name, "means": name, "job": "nccl", "untested": untested, "nodes": nodes, "mpi": {}}


@pytest.mark.parametrize(
    ("busbw", "untested", "says"),
    [
        (40.0, "", "RDMA off costs 90 %"),
        (396.0, "", "RDMA off changes nothing: the job did not use RDMA before"),
        (440.0, "", "RDMA off is faster by 10 %: what it switches off does harm here"),
        (None, "mpirun is not there", "rdma: not measured: mpirun is not there"),
        (None, "", "rdma: not measured: the job with it switched told no number"),
    ],
)
def test_both_numbers_stand_side_by_side_with_what_they_say(busbw: float | None, untested: str, says: str) -> None:
    one = replace(host("node1", gpus=8), nodes={"busbw": 400.0}, switched=[told("rdma", busbw, untested)])
    found = switches.rows([one, host("node2", gpus=8)])
    table, said = switches.lines(found)
    assert says in said[0]
    assert len(table) == 2
    if busbw is not None:
        assert table[1] == ("rdma", "nccl", f"{busbw:.4g}", f"{100 * busbw / 400:.0f} % of 400")


def test_without_the_job_as_it_is_nothing_is_compared() -> None:
    (row,) = switches.rows([replace(host("node1", gpus=8), switched=[told("rdma", 40.0)])])
    assert (row["share"], row["untested"]) == (None, "the job as it is told no number")


def test_a_job_over_mpi_is_compared_by_its_best_size() -> None:
    measured = [{"ranks": 2, "bytes": 8, "busbw": 0.1}, {"ranks": 2, "bytes": 16777216, "busbw": 10.0}]
    switched = {**told("rdma", None), "job": "mpi", "mpi": {"measured": [{**measured[1], "busbw": 2.5}]}}
    (row,) = switches.rows([replace(host("node1"), mpi={"measured": measured}, switched=[switched])])
    assert (row["base"], row["value"], row["share"]) == (10.0, 2.5, 0.25)
