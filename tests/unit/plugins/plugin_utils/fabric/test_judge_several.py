# SPDX-License-Identifier: GPL-3.0-or-later
"""More than one fabric, and one fabric asked twice."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory
from tests.unit import fabrics
from tests.unit.fabrics import Fabric, found, rails


def test_fabrics_of_their_own_for_each_rail_are_judged_together() -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    first, second = rails(width=1, spines=0), Fabric()
    leaf = second.switch("a90", "other1")
    for host in range(4):
        guid = second.hca(f"{host + 1}d00", f"node{host + 1}", "mlx5_1", 1)
        second.plug((guid, 1), (leaf, host + 1))
    second.asks = "1d00"
    inventory = Inventory((*first.rails, *second.rails))

    def both() -> judge.Judged:
        looks = [
            read.read(
                host,
                {"device": f"mlx5_{n}", "port": 1, "seconds": 5.0, "answers": one.answers()},
            )
            for n, one in enumerate((first, second))
            for host in ("node1", "node2")
        ]
        return judge.judge(looks, inventory, judge.DesiredSettings())

    reported = both()
    assert found(reported) == {}
    assert [one["name"] for one in reported.fabrics] == ["mlx5_0/1", "mlx5_1/1"]
    # node3's second HCA is plugged into the first rail's fabric.
    second.remove("3d00")
    first.nodes["3d00"] = ("H", "node3 mlx5_1")
    first.plug(("3d00", 1), ("a00", 9))
    assert found(both()) == {"fabric.rail.leaf": ["node3 mlx5_1/1"]}


def test_two_looks_at_one_fabric_count_once() -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    fabric = rails()
    look = {"port": 1, "seconds": 5.0, "answers": fabric.answers()}
    looks = [read.read("node1", {"device": f"mlx5_{rail}", **look}) for rail in range(2)]
    reported = judge.judge(looks, fabric.inventory(), judge.DesiredSettings())
    assert len(reported.fabrics) == 1
    assert found(reported) == {}


def _both(first: Fabric, second: Fabric, host: str = "node1", port: str = "mlx5_1/1") -> Any:
    """Two fabrics, the second asked by ``host`` through ``port``."""
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": first.answers()}
    device, _slash, number = port.partition("/")
    other = {"device": device, "port": int(number), "seconds": 5.0, "answers": second.answers()}
    inventory = Inventory((*first.rails, *second.rails))
    looks = [read.read(who, look) for who in ("node1", "node2")] + [read.read(who, other) for who in (host, "node3")]
    return judge.judge(looks, inventory, judge.DesiredSettings())


def _island(first: int, hosts: int) -> Fabric:
    """One switch with hosts of one HCA."""
    made = Fabric()
    leaf = made.switch(f"a{first}0", f"leaf of {first}")
    for at in range(hosts):
        guid = made.hca(f"{first + at}c00", f"node{first + at}", "mlx5_0", 0)
        made.plug((guid, 1), (leaf, at + 1))
    made.asks = f"{first}c00"
    return made


def test_fabrics_that_are_asked_through_ports_of_one_name_have_names_of_their_own() -> None:
    reported = _both(_island(1, 3), _island(5, 3), "node5", "mlx5_0/1")
    assert [one["name"] for one in reported.fabrics] == ["mlx5_0/1 of node1", "mlx5_0/1 of node5"]
    assert found(reported) == {}


def test_the_two_ports_of_one_adapter_may_be_on_two_fabrics() -> None:
    first, second = _island(1, 3), Fabric()
    leaf = second.switch("b90", "other")
    for at in range(3):
        # One node GUID, as ConnectX-3 has; its second port has the next port GUID.
        guid = f"{1 + at}c00"
        second.nodes[guid] = ("H", f"node{1 + at} mlx5_0")
        name = f"node{1 + at}"
        second.rails.append(Hca(name, "mlx5_0/2", guid, f"{1 + at}c02", 1, "Active"))
        second.plug((guid, 2), (leaf, at + 1))
    second.asks = "1c00"
    reported = _both(first, second, port="mlx5_0/2")
    assert [one["name"] for one in reported.fabrics] == ["mlx5_0/1", "mlx5_0/2"]
    assert found(reported) == {}
    # The cable of node2's first port is gone; that its adapter is on the other fabric is no proof.
    first.pull(("2c00", 1))
    assert found(_both(first, second, port="mlx5_0/2")) == {"fabric.hca.present": ["node2 mlx5_0/1"]}


def test_a_link_is_one_link_whichever_end_a_host_lists_first() -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    fabric = rails()
    for end in (("a00", 33), ("b00", 1)):
        fabric.states[end] = "Initialize/  LinkUp"
    looks = []
    for host, turned in (("node1", False), ("node2", True)):
        answers = fabric.answers()
        lines = answers["iblinkinfo"]["stdout"].splitlines(keepends=True)
        answers["iblinkinfo"]["stdout"] = "".join(reversed(lines) if turned else lines)
        looks.append(read.read(host, {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": answers}))
    reported = judge.judge(looks, fabric.inventory(), judge.DesiredSettings())
    assert found(reported) == {"fabric.link.state": ["leaf1/33 - spine1/1"]}
    assert found(reported, "unknown") == {}


@pytest.mark.parametrize("later", [0, 1])
def test_a_port_with_the_guid_of_its_node_joins_no_two_fabrics(later: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, read

    # As Connect-IB's first port has.
    monkeypatch.setattr(fabrics, "_port", lambda guid, number=1: f"{int(guid, 16) + number - 1:x}")
    first, second = _island(1, 3), Fabric()
    leaf = second.switch("b90", "other")
    for at in range(3):
        second.nodes[f"{1 + at}c00"] = ("H", f"node{1 + at} mlx5_0")
        second.plug((f"{1 + at}c00", 2), (leaf, at + 1))
    second.asks = "1c00"
    looks = [
        read.read("node1", {"device": "mlx5_0", "port": port, "seconds": 5.0, "answers": fabric.answers()})
        for port, fabric in ((1, first), (2, second))
    ]
    looks.insert(later, looks.pop())
    assert len(judge.groups(looks)) == 2
