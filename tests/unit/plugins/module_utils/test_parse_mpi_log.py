# SPDX-License-Identifier: GPL-3.0-or-later
"""Over what a job under Open MPI spoke, from its log."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse.mpi_log import MpiLog, parse

LOGS = Path(__file__).resolve().parents[2] / "mpi_logs"


def recorded(name: str) -> MpiLog:
    return parse((LOGS / f"{name}.txt").read_text())


def ucx(told: str, host: str = "gpu7") -> list[tuple[str, str]]:
    """Name and device of what this line tells of the way to other hosts."""
    line = f"[1750940428.181226] [{host}:281:0]      ucp_worker.c:1903 UCX  INFO    {told}\n"
    found = parse(f"{line}[gpu7:281] select: component ucx selected\n").between
    return [(one.name, one.device) for one in found]


def test_each_process_and_its_sum_are_told() -> None:
    found = recorded("btl-tcp")
    assert [(one.rank, one.size, one.host, one.right) for one in found.ranks] == [
        (0, 2, "node1", True),
        (1, 2, "node2", True),
    ]


def test_open_mpi_tells_its_own_transport() -> None:
    found = recorded("btl-tcp")
    assert set(found.layers) == {("node1", "ob1"), ("node2", "ob1")}
    assert {(one.name, one.host, one.layer) for one in found.between} == {
        ("tcp", "node1", "btl"),
        ("tcp", "node2", "btl"),
    }


def test_ucx_tells_transport_and_device() -> None:
    found = recorded("ucx-tcp")
    assert set(found.layers) == {("node1", "ucx"), ("node2", "ucx")}
    assert [(one.name, one.device, one.layer) for one in found.between] == [("tcp", "eth0", "ucx")]


@pytest.mark.parametrize(
    ("told", "between"),
    [
        pytest.param(
            "ucp_context_0 inter-node cfg#8 tag(rc_mlx5/mlx5_2:1 rc_mlx5/mlx5_0:1)",
            [("rc_mlx5", "mlx5_2:1"), ("rc_mlx5", "mlx5_0:1")],
            id="rails",
        ),
        pytest.param(
            "ucp_context_0 inter-node cfg#2 tag(rc_mlx5/mlx5_0:1 cuda_copy/cuda)",
            [("rc_mlx5", "mlx5_0:1")],
            id="a copy to the GPU is no way to another host",
        ),
        pytest.param(
            "ucp_context_0 intra-node cfg#4 tag(sysv/memory cma/memory tcp/eth0)", [], id="processes of one host"
        ),
        pytest.param("ucp_context_0 self cfg#0 tag(self/memory)", [], id="itself"),
        pytest.param("ep_cfg[1]: tag(dc_mlx5/mlx5_0:1); ", [("dc_mlx5", "mlx5_0:1")], id="old"),
        pytest.param("ep_cfg[3]: tag(tcp/ib1 tcp/ib0)", [("tcp", "ib1"), ("tcp", "ib0")], id="ipoib"),
        pytest.param("ep_cfg[2]: tag(sysv/memory cma/memory tcp/ib1)", [], id="old, one host"),
        pytest.param("ep_cfg[0]: tag(self/memory0 dc_mlx5/mlx5_0:1); ", [], id="old, itself"),
    ],
)
def test_what_ucx_says_of_the_way(told: str, between: list[tuple[str, str]]) -> None:
    assert ucx(told) == between


def test_a_host_to_itself_is_no_way_to_another() -> None:
    text = (
        "[n1:7] mca: bml: Using tcp btl for send to [[3264,1],1] on node n1\n"
        "[n1.site:7] mca: bml: Using tcp btl for send to [[3264,1],1] on node n1\n"
        "[n1:7] mca: bml: Using openib btl for send to [[3264,1],1] on node n2\n"
    )
    assert [(one.name, one.host) for one in parse(text).between] == [("openib", "n1")]


@pytest.mark.parametrize(("layer", "between"), [("ucx", []), ("cm", ["ofi"])])
def test_an_mtl_is_the_way_only_where_the_layer_is_the_one_that_uses_it(layer: str, between: list[str]) -> None:
    text = f"[n1:7] mca:base:select:(  mtl) Selected component [ofi]\n[n1:7] select: component {layer} selected\n"
    assert [one.name for one in parse(text).between] == between


def test_a_wrong_sum_is_told_with_what_was_said() -> None:
    line = "ibready-smoke rank=3 size=4 host=n2 wrong at 7 of 524288, first 9.0 sum of 524288\n"
    (found,) = parse(line).ranks
    assert (found.right, found.said) == (False, "at 7 of 524288, first 9.0 sum of 524288")


@pytest.mark.parametrize("text", ["", "\n", "hello\n", "[n1:7] hello: component ucx selected\n"])
def test_a_log_that_tells_nothing_gives_no_facts(text: str) -> None:
    with pytest.raises(ParseError, match="no line of Open MPI"):
        parse(text)
