# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections of what our own observers and checks tell of the gauntlet's simulated nodes."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import counters, nvlink, rails, stack
from tests.unit import fleets


@cache
def faulty(words: str) -> dict[str, Any]:
    """Two healthy nodes and one with this fault, as a report has them."""
    odd = fleets.host(fleets.ODD, *fleets.broken(fleets.named(words)))
    return fleets.report([*fleets.equals(fleets.BOARD), odd])


@cache
def healthy() -> dict[str, Any]:
    third: _hosts.Host = fleets.host("node3", *fleets.bent(fleets.BOARD, 3))
    return fleets.report([*fleets.equals(fleets.BOARD), third])


def test_healthy_nodes_are_drawn_as_healthy_ones() -> None:
    reported = rails.read(healthy())
    assert reported.unseen.total == 0
    assert {look for one in reported.maps for mine in one.looks for look in mine} == {"ok"}
    assert len(reported.maps[0].rails) == 8
    (one,) = nvlink.read(healthy()).maps
    assert one.differences == []
    assert all(cell == nvlink.Cell(up=3) for _, cells in one.gpus for cell in cells)
    heat = counters.read(healthy())
    assert (heat.rows, heat.unread.total, heat.read) == ([], 0, 3)
    standings = {version.standing for one in stack.read(healthy()) for version in one.versions}
    assert standings <= {stack.USUAL, stack.ALONE, stack.ABSENT}
    assert [one.name for one in stack.read(healthy()) if one.silent.total or one.unseen.total] == []


BOARDS = ("dgx-h100-8", "hgx-h200-8-roce", "dgx-1-v100", "h100-pcie-2", "h100-mig", "ib-login")


@pytest.mark.parametrize("board", BOARDS)
def test_no_healthy_board_is_drawn_as_an_ill_one(board: str) -> None:
    third = fleets.host("node3", *fleets.bent(board, 3))
    run = fleets.report([*fleets.equals(board), third])
    (one,) = rails.read(run).maps
    assert {look for mine in one.looks for look in mine} == {"ok"}
    assert one.odd == 0
    links = nvlink.read(run)
    assert links.unseen == []
    assert [said for reported in links.maps for said in reported.differences] == []
    assert all(not cell.down for reported in links.maps for _, cells in reported.gpus for cell in cells)
    assert counters.read(run).rows == []


def test_a_pulled_cable_is_the_only_cell_that_fails() -> None:
    (one,) = rails.read(faulty("the cable of a rail is pulled")).maps
    looks = [(host, look) for host, mine in zip(one.hosts, one.looks, strict=True) for look in mine]
    assert [(host, look) for host, look in looks if look != "ok"] == [("node7", "fail")]


def test_a_slow_rail_fails_and_shows_its_rate() -> None:
    (one,) = rails.read(faulty("a rail trained at a quarter of its rate")).maps
    (port,) = (port for row in one.rows for port in row.ports if port and port.look != "ok")
    assert (port.look, port.odd, port.rate) == ("fail", True, "100")


def test_rising_symbol_errors_are_the_only_warm_cell() -> None:
    heat = counters.read(faulty("symbol errors rise on a rail"))
    (row,) = heat.rows
    assert row.host == "node7"
    assert [cell.rises for cell in row.cells if cell and (cell.total or cell.rises)] == [True]


def test_a_lost_link_is_down_on_one_host_of_three() -> None:
    (one,) = nvlink.read(faulty("one link of a GPU is down behind NVSwitches")).maps
    assert [(said.host, said.what, said.seen, said.usual) for said in one.differences] == [
        *(("node7", "down", "5", ""), ("node7", "joined", "NV17", "NV18")),
    ]
    lost = [cell for _, cells in one.gpus for cell in cells if cell.down]
    assert lost == [nvlink.Cell(up=2, down=1)]
