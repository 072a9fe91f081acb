# SPDX-License-Identifier: GPL-3.0-or-later
"""What the smoke job's log proves, and what it does not."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke.verdict import FAIL, PASS, UNKNOWN, judge
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mpi_log import MpiLog, Rank, Transport

RIGHT = (Rank(0, 2, "a", True, ""), Rank(1, 2, "b", True, ""))
RC = Transport("rc_mlx5", "mlx5_0:1", "a", "ucx")
RC_B = Transport("rc_mlx5", "mlx5_0:1", "b", "ucx")
TCP = Transport("tcp", "eth0", "b", "ucx")
TCP_A = Transport("tcp", "eth0", "a", "ucx")


def log(*between: Transport, ranks: tuple[Rank, ...] = RIGHT) -> MpiLog:
    return MpiLog((("a", "ucx"),), between, ranks)


def test_rdma_where_it_is_expected_passes() -> None:
    found = judge(log(RC, RC_B), 2, 2, rails=True)
    assert (found.result, found.transports) == (PASS, ("rc_mlx5 (mlx5_0:1) by ucx",))
    assert "over rc_mlx5 (mlx5_0:1) by ucx" in found.why


def test_a_job_that_fell_back_to_tcp_is_named_with_the_host() -> None:
    found = judge(log(RC, TCP), 2, 2, rails=True)
    assert found.result == FAIL
    assert "RDMA is expected, and b fell back to TCP; next: `ucx_info -d`" in found.why


def test_tcp_passes_where_there_is_nothing_else_and_says_so() -> None:
    found = judge(log(TCP, TCP_A), 2, 2, rails=False)
    assert found.result == PASS
    assert found.why.endswith("RDMA is not expected: not every host has a rail")
    found = judge(log(TCP, TCP_A), 2, 2, rails=True, simulated="InfiniBand fabric")
    assert found.result == PASS
    assert "no data goes through simulated HCAs (InfiniBand fabric)" in found.why


def test_where_nobody_knows_the_rails_tcp_proves_nothing() -> None:
    found = judge(log(TCP, TCP_A), 2, 2, rails=False, rails_why="b: permission denied")
    assert found.result == UNKNOWN
    assert "whether RDMA is expected is unknown (b: permission denied)" in found.why
    found = judge(log(RC, RC_B), 2, 2, rails=False, rails_why="b: permission denied")
    assert found.result == PASS
    found = judge(log(TCP, TCP_A), 2, 2, rails=False, rails_why="b: x", simulated="InfiniBand fabric")
    assert found.result == PASS
    assert "no data goes through simulated HCAs (InfiniBand fabric)" in found.why


def test_a_transport_of_no_known_kind_proves_no_rdma() -> None:
    found = judge(log(Transport("ofi", "", "a", "mtl")), 2, 2, rails=True)
    assert found.result == UNKNOWN
    assert "whether ofi is RDMA is not known" in found.why


@pytest.mark.parametrize("rails", [True, False])
def test_a_host_that_tells_nothing_of_its_way_is_no_pass(rails: bool) -> None:
    found = judge(log(RC), 2, 2, rails=rails)
    assert found.result == UNKNOWN
    assert "the log does not tell over what b spoke" in found.why
    whole = (Rank(0, 2, "a.site", True, ""), Rank(1, 2, "b.site", True, ""))
    assert judge(log(RC, RC_B, ranks=whole), 2, 2, rails=rails).result == PASS


def test_a_log_without_a_transport_is_unknown_and_no_pass() -> None:
    assert judge(log(), 2, 2, rails=False).result == UNKNOWN


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        (RIGHT[:1], "rank 1 did not say that its sum is right"),
        ((), "rank 0, 1 did not say"),
        ((RIGHT[0], Rank(1, 2, "b", False, "at 7")), "rank 1 on b has a wrong sum: at 7"),
        ((RIGHT[0], Rank(1, 2, "a", True, "")), "they ran on 1 hosts and not on 2"),
        ((Rank(0, 3, "a", True, ""), Rank(1, 3, "b", True, "")), "the processes were 3 and not 2"),
        ((Rank(0, 1, "a", True, ""), Rank(0, 1, "b", True, "")), "not that of mpirun; next: build it (mpi4py, torch)"),
    ],
)
def test_what_is_wrong_with_the_processes_fails(ranks: tuple[Rank, ...], said: str) -> None:
    found = judge(log(RC, ranks=ranks), 2, 2, rails=True)
    assert found.result == FAIL
    assert said in found.why
