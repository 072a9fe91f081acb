# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import rdma_link

IB = (
    "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 66 sm_lid 3 lmc 0 "
    "state ACTIVE physical_state LINK_UP netdev ibp1s0\n"
)
ETH = "link mlx5_1/1 state DOWN physical_state DISABLED netdev eth0\n"


def test_infiniband_and_ethernet_links_are_read() -> None:
    ib, eth = rdma_link.parse(IB + ETH).links
    assert (ib.name, ib.lid, ib.sm_lid, ib.state) == ("mlx5_0", 66, 3, "ACTIVE")
    assert (eth.lid, eth.state, eth.physical_state) == (None, "DOWN", "DISABLED")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(IB.replace(" state", "\n\tstate") + ETH, id="wrapped, with a tab"),
        pytest.param(IB.replace(" state", "\nstate") + ETH, id="wrapped, without one"),
        pytest.param((IB + ETH).replace("\n", "\r\n"), id="CRLF"),
        pytest.param(
            (IB + ETH).replace("link mlx5_0/1", "0/1: mlx5_0/1:").replace("link mlx5_1/1", "1/1: mlx5_1/1:"),
            id="old iproute2",
        ),
        pytest.param((IB + ETH).replace("link ", "\x1b[1mlink\x1b[0m "), id="colours"),
    ],
)
def test_how_it_is_shown_changes_no_fact(text: str) -> None:
    assert rdma_link.parse(text) == rdma_link.parse(IB + ETH)


def test_what_is_not_shown_is_left_out_of_the_facts() -> None:
    (link,) = rdma_link.facts(rdma_link.parse("link rxe0/1 state ACTIVE physical_state LINK_UP"))["links"]
    assert link == {"name": "rxe0", "port": 1, "state": "ACTIVE", "physical_state": "LINK_UP"}


def test_an_error_is_told_not_raised() -> None:
    said = "Failed to open NETLINK_RDMA socket"
    assert rdma_link.facts(rdma_link.parse(f"{said}\n"))["error"] == said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("\n", "empty", id="nothing"),
        pytest.param("hello", "no link", id="another's words"),
        pytest.param("link mlx5_0/1 netdev ib0", "no link with a state", id="no state"),
        pytest.param(IB + IB, "already listed", id="twice"),
    ],
)
def test_what_gives_no_facts_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        rdma_link.parse(text)


def test_a_number_that_is_damaged_is_none() -> None:
    whole, found = rdma_link.parse(IB), rdma_link.parse(IB.replace("lid 66", "lid x"))
    assert (whole.links[0].lid, found.links[0].lid, found.links[0].sm_lid) == (66, None, 3)
    assert (whole.unread, found.unread, rdma_link.facts(found)["unread"]) == (0, 1, 1)
    cut = rdma_link.parse(f"{ETH}link mlx5_0/1 state ACTIVE lid 6")
    assert (cut.links[1].lid, cut.unread) == (None, 1)


def test_the_line_of_a_link_without_its_name_is_no_other_link_s() -> None:
    other = IB.replace("/1 ", "/# ").replace("lid 66", "lid 67")
    assert other != IB
    found = rdma_link.parse(IB + other)
    assert (found.links, found.unread) == (rdma_link.parse(IB).links, 1)
