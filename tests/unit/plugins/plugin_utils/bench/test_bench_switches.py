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
    known = {rail: Rail(rail, rail.partition("/")[0], int(rail.partition("/")[2]), 0) for rail in rails}
    return Reported(name, Member("192.0.2.1", known), gpus=("NVIDIA H100",) * gpus)


def test_a_job_between_gpus_is_switched_by_nccl_s_variables() -> None:
    hosts = [host("node1", ("mlx5_0/1", "mlx5_1/2"), gpus=8), host("node2", ("mlx5_1/2", "mlx5_5/1"), gpus=8)]
    made = {one["name"]: one for one in switches.plan(hosts, ["rails", "rdma", "nvls", "gpudirect"], BOTH)}
    assert {one["job"] for one in made.values()} == {"nccl"}
    assert made["rdma"]["environment"]["node1"] == {"NCCL_NET": "Socket"}
    assert made["nvls"]["environment"]["node2"] == {"NCCL_NVLS_ENABLE": "0"}
    # One that both have, and of the device that port alone.
    assert [env["NCCL_IB_HCA"] for env in made["rails"]["environment"].values()] == ["=mlx5_1:2", "=mlx5_1:2"]


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
        (
            [host("node1"), host("node2", ("mlx5_4/1", "mlx5_5/1"))],
            ["rails"],
            BOTH,
            "no rail has the same name on all hosts",
        ),
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


PLANNED = [{"name": "rdma", "means": "RDMA off", "job": "nccl", "untested": ""}]


def told(busbw: float | None, error: str = "", **more: Any) -> dict[str, Any]:
    return {"name": "rdma", "error": error, "nodes": {**({"busbw": busbw} if busbw else {}), **more}, "mpi": {}}


def job(switched: list[dict[str, Any]], **more: Any) -> list[Reported]:
    """The job of two hosts, of which the first tells what it reached."""
    first = replace(host("node1", gpus=8), nodes={"busbw": 400.0, **more}, switches=PLANNED, switched=switched)
    return [first, replace(host("node2", gpus=8), switches=PLANNED)]


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (told(40.0), "RDMA off costs 90 %"),
        (told(396.0), "RDMA off changes nothing: the job did not use RDMA before"),
        (told(440.0), "RDMA off is faster by 10 %: what it switches off does harm here"),
        (told(None, "no mpirun"), "RDMA off: not measured: node1: no mpirun"),
        (told(None, untested="mpirun: exit 1"), "RDMA off: not measured: mpirun: exit 1"),
        (told(None, msg="boom"), "RDMA off: not measured: boom"),
        (told(396.0, wrong=12), "RDMA off: not measured: its sums were wrong"),
    ],
)
def test_both_numbers_stand_side_by_side_with_what_they_say(one: dict[str, Any], says: str) -> None:
    found = switches.rows(job([one]))
    table, said = switches.lines(found)
    assert says in said[0]
    assert len(table) == 2
    if found[0]["value"]:
        value = one["nodes"]["busbw"]
        assert table[1] == ("RDMA off", "nccl", f"{value:.4g}", f"{100 * value / 400:.0f} % of 400")


def test_a_switch_of_which_no_host_tells_keeps_its_row() -> None:
    (row,) = switches.rows(job([]))
    assert (row["value"], row["untested"]) == (None, "no host told of it")


def test_another_host_s_reason_is_told() -> None:
    first, second = job([told(None)])
    (row,) = switches.rows([first, replace(second, switched=[told(None, "the disk is full")])])
    assert row["untested"] == "node2: the disk is full"


@pytest.mark.parametrize("more", [{"wrong": 3}, {"untested": "it was ended"}])
def test_without_a_right_number_of_the_job_as_it_is_nothing_is_compared(more: dict[str, Any]) -> None:
    (row,) = switches.rows(job([told(40.0)], **more))
    assert row["share"] is None
    assert row["untested"].startswith("the job as it is: ")


def test_a_job_over_mpi_is_compared_by_its_best_size_where_all_is_right() -> None:
    measured = [{"ranks": 2, "bytes": 8, "busbw": 0.1, "right": True}]
    measured += [{"ranks": 2, "bytes": 16777216, "busbw": 10.0, "right": True}]
    planned = [{**PLANNED[0], "job": "mpi"}]
    kept = {"name": "rdma", "error": "", "nodes": {}, "mpi": {"measured": [{**measured[1], "busbw": 2.5}]}}
    one = replace(host("node1"), mpi={"measured": measured}, switches=planned, switched=[kept])
    (row,) = switches.rows([one])
    assert (row["base"], row["value"], row["share"]) == (10.0, 2.5, 0.25)
    wrong = {**kept, "mpi": {"measured": [{**measured[1], "right": False}]}}
    (row,) = switches.rows([replace(one, switched=[wrong])])
    assert row["untested"] == "its sums were wrong"
    failed = {**kept, "mpi": {"result": "fail", "why": "ranks died"}}
    (row,) = switches.rows([replace(one, switched=[failed])])
    assert row["untested"] == "ranks died"
