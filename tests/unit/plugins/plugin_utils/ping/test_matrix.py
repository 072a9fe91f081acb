# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.ping import Ping
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.leaves import leaves
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.ping.matrix import SIDE, matrix

RAIL = "mlx5_0/1"


def test_few_hosts_have_a_row_each() -> None:
    rails = {"a": [RAIL], "b": [RAIL, "mlx5_1/1"], "c": ["mlx5_1/1"]}
    pings = [
        Ping("a", "b", RAIL, 50, 40, 0.03),
        Ping("b", "a", RAIL, 50, 0),
        Ping("b", "c", "mlx5_1/1", untested="the port is Down", culprit="c"),
    ]
    first, second = matrix(rails, pings, {})
    assert first == {
        "rail": RAIL,
        "by": "host",
        "rows": ["a", "b"],
        "size": [1, 1],
        "tested": [[0, 1], [1, 0]],
        "bad": [[0, 1], [1, 0]],
        "loss": [[None, 20.0], [100.0, None]],
        "rtt_ms": [[None, 0.03], [None, None]],
    }
    assert second["rows"] == ["b", "c"]
    assert second["loss"] == [[None, None], [None, None]]


def many(count: int) -> dict[str, list[str]]:
    return {f"n{number}": [RAIL] for number in range(count)}


def test_many_hosts_have_a_row_for_each_leaf_switch() -> None:
    rails = many(100)
    at = {(host, RAIL): f"0x{int(host[1:]) % 4}" for host in rails}
    pings = [Ping("n0", "n1", RAIL, 50, 50, 0.02), Ping("n4", "n5", RAIL, 50, 49, 0.05)]
    (square,) = matrix(rails, pings, at)
    assert (square["by"], square["rows"], square["size"]) == (
        "leaf",
        ["0x0", "0x1", "0x2", "0x3"],
        [25] * 4,
    )
    assert (square["tested"][0][1], square["bad"][0][1]) == (2, 1)
    assert (square["loss"][0][1], square["rtt_ms"][0][1]) == (2.0, 0.05)
    assert square["loss"][1][0] is None


def test_many_hosts_of_unknown_leaves_stand_in_groups_of_neighbours() -> None:
    for count in (SIDE + 1, 2000):
        (square,) = matrix(many(count), [Ping("n0", f"n{count - 1}", RAIL, 50, 50)], {})
        assert square["by"] == "group"
        assert len(square["rows"]) <= SIDE
        assert sum(square["size"]) == count
        assert square["tested"][0][-1] == 1
    assert square["rows"][0] == "n0 to n31"


def test_leaves_come_from_the_fabric_as_far_as_it_tells() -> None:
    nodes = [
        {"type": "ca", "host": "a", "hca": "mlx5_0", "leaf": "0x1"},
        {"type": "ca", "host": "a", "hca": "mlx5_1", "leaf": "0x1"},
        {"type": "ca", "host": "a", "hca": "mlx5_1", "leaf": "0x2"},
        {"type": "ca", "host": "b", "hca": "mlx5_0", "leaf": ""},
        {"type": "ca", "host": "c", "hca": "mlx5_0/1", "leaf": "0x3"},
        {"type": "switch", "guid": "0x1"},
        "nonsense",
    ]
    rails = {"a": [RAIL, "mlx5_1/1"], "b": [RAIL], "c": [RAIL, "mlx5_0/2"]}
    assert leaves({"fabrics": [{"nodes": nodes}]}, rails) == {
        ("a", RAIL): "0x1",
        ("c", RAIL): "0x3",
    }
    for nothing in ({}, None, {"fabrics": None}, {"fabrics": [None]}, "text"):
        assert leaves(nothing, rails) == {}
