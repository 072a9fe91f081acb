# SPDX-License-Identifier: GPL-3.0-or-later
"""ompi_info.txt and ucx_info.txt were printed by openmpi-bin 5.0.7-1 and ucx-utils 1.18.1 of
Debian 13 on a node of the sandbox, which has no RDMA device that a program could open."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ompi_info, ucx_info
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ucx_info import Transport

SAMPLES = Path(__file__).parents[2] / "parse_samples"
OMPI = (SAMPLES / "ompi_info.txt").read_text()
UCX = (SAMPLES / "ucx_info.txt").read_text()


def test_debians_open_mpi_leaves_ucx_out() -> None:
    found = ompi_info.parse(OMPI)
    assert (found.release, found.components) == ("5.0.7", ("cm", "monitoring", "ob1", "ucx", "v"))
    assert (found.pml, found.source) == ("^ucx", "file (/etc/openmpi/openmpi-mca-params.conf:69)")
    assert not found.takes_ucx
    assert (found.tls.split(",")[0], found.devices) == ("rc_verbs", "mlx*")


@pytest.mark.parametrize(
    ("value", "takes"),
    [("", True), ("ucx", True), ("ob1", False), ("^ob1", True), ("ob1,ucx", True), ("^ob1,ucx", False)],
)
def test_what_a_selection_means(value: str, takes: bool) -> None:
    text = OMPI.replace("param:pml:value:^ucx", f"param:pml:value:{value}")
    assert ompi_info.parse(text).takes_ucx is takes


def test_without_the_component_no_selection_takes_it() -> None:
    text = OMPI.replace("mca:pml:ucx:", "mca:pml:other:").replace("value:^ucx", "value:")
    assert not ompi_info.parse(text).takes_ucx


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no component"),
        ("ompi_info: command not found\n", "no component"),
        (OMPI.replace("mca:pml:base:param:pml:value", "x"), "nothing tells"),
        (OMPI[: len(OMPI) // 2], "cut off"),
    ],
)
def test_what_is_no_whole_answer_is_said(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        ompi_info.parse(text)


def test_ucx_without_rdma() -> None:
    found = ucx_info.parse(UCX)
    assert found.version == "1.18.1"
    assert found.transports[:3] == (Transport("self", "memory"), Transport("tcp", "eth0"), Transport("tcp", "lo"))


def test_ucx_with_rdma_and_an_older_head() -> None:
    text = UCX.replace("Transport: tcp", "Transport: rc_mlx5").replace("Device: eth0", "Device: mlx5_0:1")
    head = "# UCT version=1.10.1 revision 6a5856e\n"
    found = ucx_info.parse(head + text[text.index("# Memory") :])
    assert found.version == "1.10.1"
    assert Transport("rc_mlx5", "mlx5_0:1") in found.transports


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no transport"),
        (UCX[: len(UCX) // 2], "cut off|without its device"),
        (UCX.replace("#         Device: eth0\n", ""), "without its device"),
        ("#         Device: eth0\n", "without its transport"),
    ],
)
def test_what_is_no_whole_list_is_said(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        ucx_info.parse(text)
