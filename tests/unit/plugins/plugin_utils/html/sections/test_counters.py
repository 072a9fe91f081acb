# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import counters
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told as sections
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import mapped, runs
from tests.unit.markup import Piece


def counted(*more: Any, **values: int) -> dict[str, Any]:
    """A host with these counters on its first port."""
    return mapped.host(*more, counters={"mlx5_0/1": mapped.told(values)})


def shown(run: dict[str, Any]) -> Piece:
    found = sections.counters(run, Speech())
    assert found is not None
    return Piece(found.html)


def test_only_hosts_with_something_are_shown_the_highest_first() -> None:
    run = runs.run({"a": mapped.host(), "b": counted(symbol_error=5), "c": counted(link_downed=700)})
    heat = counters.read(run)
    assert [row.host for row in heat.rows] == ["c", "b"]
    assert heat.read == 3
    piece = shown(run)
    assert piece.row("c")[1:3] == ["700", "0"]
    assert "2 of 3 hosts have counted errors" in piece.text


def test_a_counter_that_rises_comes_first_and_has_a_sign() -> None:
    risen = runs.check("fail", "ib.port.errors", "mlx5_0/1", observed="symbol_error +5 in 5.0 s")
    run = runs.run({"a": counted(symbol_error=10**6), "b": counted(risen, symbol_error=6)})
    heat = counters.read(run)
    assert [row.host for row in heat.rows] == ["b", "a"]
    cell = heat.rows[0].cells[0]
    assert cell is not None
    assert cell.says == "symbol_error +5 in 5.0 s; symbol_error 6"
    assert shown(run).row("b")[1] == "↑ 6"


@pytest.mark.parametrize(("total", "shade"), [(None, 0), (0, 0), (1, 1), (9, 1), (10, 2), (999, 3), (10**9, 6)])
def test_a_shade_is_a_power_of_ten(total: int | None, shade: int) -> None:
    assert counters.Cell(total).shade == shade


def test_that_every_link_came_up_once_is_nothing_odd() -> None:
    booted = mapped.host(counters={f"mlx5_{at}/1": mapped.told({"link_downed": 1}) for at in range(8)})
    run = runs.run({"a": booted, "b": booted, "c": counted(link_downed=4)})
    heat = counters.read(run)
    assert heat.usual == 1
    assert [(row.host, row.cells[0].total) for row in heat.rows if row.cells[0]] == [("c", 3)]
    assert "went down once; the table counts what exceeds that" in shown(run).text


def test_what_is_no_error_counter_does_not_count() -> None:
    run = runs.run({"a": counted(port_xmit_data=10**12)})
    assert counters.read(run).rows == []
    assert "show no errors" in shown(run).text


@pytest.mark.parametrize("values", [{}, {"symbol_error": None}, {"port_xmit_data": 5}, 7])
def test_a_port_that_told_no_error_counter_is_not_zero(values: Any) -> None:
    ports = {f"mlx5_{at}/1": mapped.told(values) for at in range(8)}
    heat = counters.read(runs.run({"a": mapped.host(counters=ports)}))
    assert (heat.read, heat.none, heat.unread.shown) == (0, 0, ("a",))


def test_counters_that_nobody_could_read_are_not_zero() -> None:
    unread = mapped.host(
        counters={
            "mlx5_0/1": mapped.told(None, "permission denied"),
            "mlx5_1/1": mapped.told({"symbol_error": 3}),
        }
    )
    run = runs.run({"a": unread})
    heat = counters.read(run)
    assert heat.unread.shown == ("a",)
    piece = shown(run)
    assert piece.row("a")[1:3] == ["?", "3"]
    assert "permission denied" in piece.attrs("title")
    assert "1 host has a port whose counters could not be read:" in piece.text


def test_a_host_without_facts_was_not_read() -> None:
    heat = counters.read(runs.run({"a": runs.judged(), "b": mapped.host()}))
    assert heat.unread.shown == ("a",)
    assert heat.read == 1


def test_a_driver_that_shows_none_is_told_apart() -> None:
    missing = {f"mlx5_{at}/1": mapped.told(None, "shows none", missing=True) for at in range(8)}
    heat = counters.read(runs.run({"a": mapped.host(counters=missing)}))
    assert (heat.none, heat.read, heat.unread.total) == (1, 0, 0)


def test_the_rest_is_counted() -> None:
    run = runs.run({f"n{at}": counted(symbol_error=at + 1) for at in range(130)})
    heat = counters.read(run)
    assert (len(heat.rows), heat.more) == (counters.HOSTS, 30)
    assert heat.rows[0].host == "n129"
    assert "and 30 more, in the JSON report" in shown(run).text
