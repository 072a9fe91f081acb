# SPDX-License-Identifier: GPL-3.0-or-later
"""A setting of NCCL costs what it does to a job: it stops it, sends it over TCP, or takes a share."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.rank import Cause
from tests.unit import fleets

H100, ROCE, DGX = "hgx-h100-8", "hgx-h200-8-roce", "dgx-h100-8"


def first(board: str, lines: dict[str, str | None], *, everywhere: bool = False, environment: str = "") -> Cause:
    """The first cause of a fleet of which one host, or each, has these lines, or a line of its environment."""
    changes: list[dict[str, Any]] = [{"more": {"nccl_conf": lines}}]
    line = {"command": "nccl_copies", "replace": ["end\t1", f"set\t{environment}\t/etc/environment\t4\nend\t2"]}
    hosts = [
        fleets.host(name, *fleets.bent(board, int(name[4:]), node=changes, evidence=[line] if environment else []))
        for name in ((*fleets.EQUALS, fleets.ODD) if everywhere else (fleets.ODD,))
    ]
    return diagnose(fleets.report(hosts if everywhere else [*fleets.equals(board), *hosts])).causes[0]


@pytest.mark.parametrize(
    ("board", "lines", "cause", "effect"),
    [
        pytest.param(H100, {"NCCL_SOCKET_IFNAME": "=bond7"}, "nccl.conf_stops", "stops", id="no interface"),
        pytest.param(H100, {"NCCL_SOCKET_IFNAME": "=lo"}, "nccl.conf_stops", "stops", id="loopback"),
        pytest.param(ROCE, {"NCCL_IB_GID_INDEX": "0"}, "nccl.gid_index", "stops", id="no address"),
        pytest.param(H100, {"NCCL_IB_HCA": "=mlx5_99"}, "nccl.conf_tcp", "tcp", id="no HCA"),
        pytest.param(H100, {"NCCL_IB_DISABLE": "1"}, "nccl.rdma_off", "tcp", id="RDMA off"),
        pytest.param(H100, {"NCCL_NET": "Socket"}, "nccl.rdma_off", "tcp", id="TCP by name"),
        pytest.param(DGX, {"NCCL_IB_HCA": "=mlx5_8,mlx5_9"}, "nccl.conf_no_rail", "rail_slow", id="no rail"),
        pytest.param(H100, {"NCCL_IB_RETRY_CNT": "0"}, "nccl.no_patience", "unsteady", id="no patience"),
    ],
)
def test_what_all_hosts_have_costs_what_it_does(
    board: str, lines: dict[str, str | None], cause: str, effect: str
) -> None:
    found = first(board, lines, everywhere=True)
    assert (found.id, found.effect) == (cause, effect)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param({"NCCL_NET_OVERHEAD": "1000"}, id="another algorithm"),
        pytest.param({"NCCL_ALGO": "Ring"}, id="one algorithm"),
        pytest.param({"NCCL_BUFFSIZE": "8388608"}, id="other buffers"),
        pytest.param({"NCCL_IB_DISABLE": "1"}, id="another network"),
        pytest.param({"NCCL_NET": "Socket"}, id="another network by name"),
    ],
)
def test_what_one_host_of_several_has_stops_jobs_between_them(lines: dict[str, str | None]) -> None:
    found = first(H100, lines)
    assert found.loss == 1.0
    assert list(found.hosts) == [fleets.ODD]


def test_what_lets_ranks_differ_and_work_together_costs_a_share() -> None:
    found = first(H100, {"NCCL_IB_QPS_PER_CONNECTION": "4"})
    assert (found.id, found.effect, found.loss) == ("fleet.nccl_settings", "skew", 0.1)


@pytest.mark.parametrize(
    ("line", "cause", "effect"),
    [
        ("NCCL_IB_DISABLE\t1", "nccl.env_rdma_off", "tcp"),
        ("NCCL_IB_HCA\t=mlx5_99", "nccl.env_rdma_off", "tcp"),
        ("NCCL_SOCKET_IFNAME\t=bond7", "nccl.env_stops", "stops"),
        ("NCCL_IB_RETRY_CNT\t0", "nccl.env_harm", "no_gdr"),
    ],
)
def test_a_line_of_the_environment_costs_the_same_and_is_for_hands(line: str, cause: str, effect: str) -> None:
    """Role nccl writes nccl.conf, and none of the files that go before it."""
    found = first(H100, {}, environment=line)
    assert (found.id, found.effect, found.mends) == (cause, effect, False)


def test_a_line_too_many_is_taken_away_by_a_run_that_owns_the_file() -> None:
    command = first(H100, {"NCCL_IB_QPS_PER_CONNECTION": "4"}).command
    assert command.endswith("--tags nccl_conf -e nccl_conf_exclusive=true")


def test_a_line_that_only_equals_have_is_for_hands() -> None:
    lines = {"more": {"nccl_conf": {"NCCL_NET_OVERHEAD": "1000"}}}
    equals = [fleets.host(name, *fleets.bent(H100, int(name[4:]), node=[lines])) for name in fleets.EQUALS]
    odd = fleets.host(fleets.ODD, *fleets.bent(H100, 7))
    found = diagnose(fleets.report([*equals, odd])).causes[0]
    assert (found.id, found.loss, found.mends) == ("fleet.nccl_unlike", 1.0, False)


def test_a_user_s_own_file_is_no_cause_of_every_job_s() -> None:
    own = "conf\t/home/ann/.nccl.conf\tann\nset\tNCCL_IB_DISABLE\t1\t/home/ann/.nccl.conf\t1\nend\t3"
    bent = [{"command": "nccl_copies", "replace": ["end\t1", own]}]
    hosts = [
        fleets.host(name, *fleets.bent(H100, int(name[4:]), evidence=bent)) for name in (*fleets.EQUALS, fleets.ODD)
    ]
    causes = {cause.id: cause for cause in diagnose(fleets.report(hosts)).causes}
    assert not {"nccl.env_rdma_off", "nccl.env_stops", "nccl.env_harm"} & set(causes)
    assert ".nccl.conf" in causes["nccl.own_file"].command
