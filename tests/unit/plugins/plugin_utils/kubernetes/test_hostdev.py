# SPDX-License-Identifier: GPL-3.0-or-later
"""Host devices: which functions the device plugin gives, and when it must not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes import hostdev, nodes
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.names import KubernetesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.nodes import Hca, Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.kubernetes.pools import Pool
from tests.unit import clusters
from tests.unit.clusters import MATRIX, Like

FOUND = nodes.read(["a"], clusters.hostvars({"a": Like()}), MATRIX).nodes[0]
RAILS = (
    Hca("mlx5_0/1", "0000:15:00.0", "InfiniBand", "15b3", "1021", "ib0"),
    Hca("mlx5_1/1", "0000:25:00.0", "InfiniBand", "15b3", "1021", "ib1"),
)


def node(host: str, rails: tuple[Hca, ...] = RAILS, *others: Hca) -> Node:
    return replace(FOUND, host=host, name=host, rails=rails, others=others)


def pool(*found: Node, slug: str = "x") -> Pool:
    return Pool(slug, slug, slug, found)


def given(*pools: Pool) -> dict[str, dict[str, object]]:
    listed = json.loads(hostdev.config(pools))["resourceList"]
    assert all(one["resourcePrefix"] == "nvidia.com" for one in listed)
    return {one["resourceName"]: one["selectors"] for one in listed}


def at(hca: Hca, address: str, layer: str = "InfiniBand") -> Hca:
    return replace(hca, address=address, layer=layer)


def test_a_rail_is_its_function_and_nothing_else() -> None:
    storage = Hca("mlx5_2/1", "0000:35:00.0", "InfiniBand", "15b3", "1021", "ib2")
    assert given(pool(node("a", RAILS, storage))) == {
        "ib_rail0": {"pciAddresses": ["0000:15:00.0"], "linkTypes": ["infiniband"], "isRdma": True},
        "ib_rail1": {"pciAddresses": ["0000:25:00.0"], "linkTypes": ["infiniband"], "isRdma": True},
    }


def test_a_rail_at_other_addresses_on_other_nodes_is_all_of_them() -> None:
    other = tuple(at(rail, rail.address.replace(":00.0", ":01.0")) for rail in RAILS)
    assert given(pool(node("a")), pool(node("b", other), slug="y"))["ib_rail0"]["pciAddresses"] == [
        "0000:15:00.0",
        "0000:15:01.0",
    ]


def test_one_address_of_two_link_layers_is_told_apart() -> None:
    found = given(pool(node("a")), pool(node("b", ROCE), slug="y"))
    assert found["ib_rail0"]["pciAddresses"] == found["roce_rail0"]["pciAddresses"] == ["0000:15:00.0"]
    assert found["roce_rail0"]["linkTypes"] == ["ether"]


BAD = {
    "the other rail": (node("b", (RAILS[1], RAILS[0])), r"0000:25:00\.0 is ib-rail1 on a and ib-rail0 on b"),
    "no rail": (
        node("b", (at(RAILS[0], "0000:99:00.0"), RAILS[1]), RAILS[0]),
        r"0000:15:00\.0 is ib-rail0 on a and no rail on b",
    ),
    "two ports": (node("b", (RAILS[0], replace(RAILS[0], name="mlx5_0/2"))), "mlx5_0/1 and mlx5_0/2 are ports of one"),
    "a port beside": (node("b", RAILS, replace(RAILS[0], name="mlx5_0/2")), "mlx5_0/2, which is no rail, is a port of"),
}


@pytest.mark.parametrize(("other", "said"), BAD.values(), ids=BAD)
def test_a_function_that_would_give_more_or_less_is_refused(other: Node, said: str) -> None:
    with pytest.raises(KubernetesError, match=rf"{said}.*Next: "):
        hostdev.config([pool(node("a"), other)])


ROCE = tuple(at(rail, rail.address, "Ethernet") for rail in RAILS)


def test_a_roce_rail_without_an_interface_is_refused() -> None:
    with pytest.raises(KubernetesError, match=r"b: mlx5_0/1 has no network interface.*Next: "):
        hostdev.config([pool(node("b", (replace(ROCE[0], netdev=""), ROCE[1])))])


def test_a_port_without_an_interface_is_passed_over_by_the_plugin() -> None:
    moved = (at(ROCE[0], "0000:99:00.0", "Ethernet"), ROCE[1])
    assert "roce_rail0" in given(pool(node("a", ROCE), node("b", moved, replace(ROCE[0], netdev=""))))
    with pytest.raises(KubernetesError, match="no rail on b"):
        hostdev.config([pool(node("a", ROCE), node("b", moved, ROCE[0]))])
    # Whether there is an IPoIB interface nobody looked at.
    moved, beside = (at(RAILS[0], "0000:99:00.0"), RAILS[1]), replace(RAILS[0], netdev="")
    with pytest.raises(KubernetesError, match="no rail on b"):
        hostdev.config([pool(node("a"), node("b", moved, beside))])


def test_what_the_host_loses_is_told() -> None:
    rendered = clusters.rendered({"a": Like(), "b": Like()}, plugin="hostdev")
    assert [one for one in rendered.remarks if "a, b have no network interface of their rails" in one]
    assert "while a pod has them" in rendered.files["README.md"]
