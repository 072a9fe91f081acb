# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ends of cables a run carries on from the runs before it, and which it lets go."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import ends
from tests.browser import runs


def a_run(ports: dict[str, list[str] | None], cabled: dict[str, str], since: dict[str, str] | None = None) -> Any:
    """``ports``: of each host, None where it told none. ``cabled``: "host hca/port" -> "switch/port"."""
    switch = {"guid": "s", "name": "leaf-1"}
    nodes, links = [switch], []
    for port, end in cabled.items():
        name, _, hca = port.partition(" ")
        nodes.append({"guid": port, "host": name, "hca": hca})
        links.append({"a": port, "b": "s", "a_port": 1, "b_port": end.rpartition("/")[2]})
    hosts = {
        name: {"facts": {"ib": None if mine is None else {"cas": [_hca(port) for port in mine]}}}
        for name, mine in ports.items()
    }
    fabric = {"fabrics": [{"nodes": nodes, "links": links}]} if cabled else None
    return {"hosts": hosts, "fabric": fabric, "since": {"ends": since or {}}}


def _hca(port: str) -> dict[str, Any]:
    name, _, num = port.partition("/")
    return {"name": name, "ports": [{"num": int(num)}]}


BEFORE = a_run(
    {"n1": ["mlx5_0/1"], "n2": ["mlx5_0/1"]},
    {"n1 mlx5_0/1": "leaf-1/3", "n2 mlx5_0/1": "leaf-1/4"},
    {"n1 mlx5_9/1": "leaf-1/9"},
)


@pytest.mark.parametrize(
    ("ports", "cabled", "carried"),
    [
        pytest.param({"n1": ["mlx5_0/1"]}, {}, {"n1 mlx5_0/1": "leaf-1/3"}, id="the end that was seen last"),
        pytest.param({"n1": ["mlx5_0/1"]}, {"n1 mlx5_0/1": "leaf-1/7"}, {}, id="what this run sees is not carried"),
        pytest.param({"n1": ["mlx5_4/1"]}, {}, {}, id="an HCA that is gone takes its end along"),
        pytest.param({"n3": ["mlx5_0/1"]}, {}, {}, id="so does a host"),
        pytest.param(
            {"n1": None},
            {},
            {"n1 mlx5_0/1": "leaf-1/3", "n1 mlx5_9/1": "leaf-1/9"},
            id="who tells nothing may have all",
        ),
    ],
)
def test_ends_are_carried_for_the_ports_that_there_are(
    ports: dict[str, list[str] | None], cabled: dict[str, str], carried: dict[str, str]
) -> None:
    assert ends.missed(BEFORE, a_run(ports, cabled)) == carried


def test_ports_are_called_alike_by_fabric_and_host() -> None:
    run = runs.three_faults()
    seen = ends.ends(run)
    assert seen
    blind = {**run, "fabric": None}
    assert ends.missed(run, blind) == {**run["since"]["ends"], **seen}
