# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks say of soft RoCE: asked for, it is right and no HCA; else it is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet.tree import Tree
from tests.unit import soft_roce_node
from tests.unit.plugins.module_utils import test_observe_roce as hca_node
from tests.unit.soft_roce_node import DEVICE

EXPECT = {"link_layer": "Ethernet", "soft_roce": {"rxe0": "eth0"}}
CM = "/sys/kernel/config/rdma_cm/rxe0/ports/1"


def judge(tree: Tree, **more: Any) -> dict[str, Check]:
    expect = {key: one for key, one in {**EXPECT, **more}.items() if one is not None}
    found = _verify.verify(tree, from_inventory(expect), ("ib", "roce")).checks
    return {f"{one.id} {one.subject}": one for one in found}


def bad(checks: dict[str, Check]) -> dict[str, str]:
    """What is wrong of soft RoCE; ibstat is not installed on this node."""
    return {
        name: one.result
        for name, one in checks.items()
        if one.result in ("fail", "unknown") and not name.startswith(("ib.tool", "ib.sources"))
    }


@pytest.mark.parametrize("layer", ["Ethernet", None])
def test_what_is_asked_for_is_right_and_told_as_software(layer: str | None) -> None:
    checks = judge(soft_roce_node.node(), link_layer=layer)
    assert bad(checks) == {}
    kind = checks["roce.rail.kind rxe0/1"]
    assert (kind.result, kind.expected_from) == ("pass", "inventory")
    assert kind.observed == "soft RoCE (RDMA in software) on eth0"
    assert checks["ib.hca.count host"].cause == "soft RoCE: no HCA, and nobody expects any"
    skipped = {one.id for one in checks.values() if one.cause.startswith("soft RoCE: ")}
    assert skipped == {
        *("ib.hca.count", "roce.port.rate", "roce.netdev.mtu"),
        *("roce.qos.trust", "roce.qos.pfc", "roce.qos.tos", "roce.qos.ecn"),
    }


@pytest.mark.parametrize("asked", [None, {}])
def test_where_nobody_asks_for_it_it_is_no_rail(asked: dict[str, str] | None) -> None:
    checks = judge(soft_roce_node.node(), soft_roce=asked)
    assert bad(checks)["roce.rail.kind rxe0/1"] == "fail"
    assert bad(checks)["roce.port.rate rxe0/1"] == "unknown"
    assert bad(checks)["ib.hca.count host"] == "unknown"


def test_another_one_than_the_one_asked_for_is_no_rail() -> None:
    tree = soft_roce_node.node()
    soft_roce_node.add(tree, "rxe1", "eth1")
    found = bad(judge(tree))
    assert found["roce.rail.kind rxe1/1"] == "fail"
    assert "roce.rail.kind rxe0/1" not in found


FAULTS: list[tuple[str, Callable[[Tree], None], str, str]] = [
    (
        "it is gone, or its module is",
        lambda tree: (
            tree.remove(DEVICE.format("rxe0")),
            tree.remove("/sys/class/infiniband/rxe0"),
        ),  # type: ignore[func-returns-value]
        "roce.rail.present rxe0",
        "rdma_rxe is not loaded",
    ),
    (
        "it sits on another interface",
        lambda tree: soft_roce_node.add(tree, "rxe0", "eth1"),
        "roce.rail.kind rxe0/1",
        "its traffic takes another network",
    ),
    (
        "its interface is down",
        lambda tree: tree.file(f"{DEVICE.format('rxe0')}/ports/1/state", "1: DOWN"),
        "roce.port.state rxe0/1",
        "",
    ),
    (
        "its interface has no address",
        lambda tree: tree.file(f"{DEVICE.format('rxe0')}/ports/1/gids/1", soft_roce_node.ZERO),
        "roce.gid.address rxe0/1",
        "eth0 has no IP address",
    ),
]


@pytest.mark.parametrize(("bend", "check", "cause"), [pytest.param(*one[1:], id=one[0]) for one in FAULTS])
def test_a_fault_is_found(bend: Callable[[Tree], None], check: str, cause: str) -> None:
    tree = soft_roce_node.node()
    bend(tree)
    one = judge(tree)[check]
    assert one.result == "fail"
    assert cause in one.cause


def test_a_device_that_is_gone_is_told_once() -> None:
    tree = soft_roce_node.node()
    tree.remove(DEVICE.format("rxe0"))
    tree.remove("/sys/class/infiniband/rxe0")
    tree.folder("/sys/class/infiniband")
    found = [name for name in bad(judge(tree)) if name.startswith("roce.")]
    assert found == ["roce.rail.present rxe0"]


@pytest.mark.parametrize("layer", ["InfiniBand", "Ethernet"])
@pytest.mark.parametrize(("netdev", "result"), [("eth0", "pass"), ("eth1", "fail")])
def test_beside_hcas_it_has_to_be_in_its_place(layer: str, netdev: str, result: str) -> None:
    tree = hca_node.host()
    soft_roce_node.add(tree, "rxe0", netdev)
    more = {"link_layer": layer, "rate_gbps": 400, "hcas": 1}
    found = {name: one for name, one in judge(tree, **more).items() if name.startswith("roce")}
    assert found["roce.rail.kind rxe0/1"].result == result
    rates = {name for name, one in found.items() if one.id == "roce.port.rate"}
    assert rates == {"roce.port.rate mlx5_0/1" if layer == "Ethernet" else "roce.port.rate host"}
    lost = judge(hca_node.host(), **more)["roce.rail.present rxe0"]
    assert (lost.result, lost.expected) == ("fail", "soft RoCE on eth0")


def test_an_interface_that_cannot_be_told_is_unknown() -> None:
    tree = soft_roce_node.node()
    tree.remove(f"{DEVICE.format('rxe0')}/parent")
    tree.broken["/sys/class/infiniband/rxe0/ports/1/gids"] = "permission denied"
    assert judge(tree)["roce.rail.kind rxe0/1"].result == "unknown"


def test_what_the_site_expects_of_it_is_judged_all_the_same() -> None:
    tree = soft_roce_node.node()
    checks = judge(tree, rate_gbps=100, roce_mtu=9000, roce_pfc=[3], roce_tos=106)
    results = {name.split()[0]: one.result for name, one in checks.items()}
    assert results["roce.port.rate"] == "fail"
    assert results["roce.netdev.mtu"] == "fail"
    assert results["roce.qos.pfc"] == "unknown"
    assert results["roce.qos.tos"] == "fail"
    assert judge(tree, roce_mtu=1500)["roce.netdev.mtu rxe0/1"].result == "pass"


@pytest.mark.parametrize(("tos", "result"), [("106", "pass"), ("0", "fail"), ("104", "fail")])
def test_its_mark_is_that_of_rdma_cm(tos: str, result: str) -> None:
    tree = soft_roce_node.node()
    tree.file(f"{CM}/default_roce_tos", tos)
    one = judge(tree, roce_tos=106)["roce.qos.tos rxe0/1"]
    assert (one.result, one.observed) == (result, f"{tos} (RDMA CM; soft RoCE has no other)")


@pytest.mark.parametrize(
    ("shown", "wanted", "result"),
    [
        ("RoCE v2", "v2", "pass"),
        ("IB/RoCE v1", "v2", "fail"),
        ("RoCE v2", "v1", "fail"),
        ("IB/RoCE v1", "v1", "pass"),
        ("", "v2", "fail"),
        (None, "v2", "unknown"),
        ("RoCE v2", None, "skip"),
    ],
)
def test_the_mode_of_rdma_cm_is_judged(shown: str | None, wanted: str | None, result: str) -> None:
    tree = soft_roce_node.node()
    if shown is not None:
        tree.file(f"{CM}/default_roce_mode", shown)
    assert judge(tree, roce_mode=wanted)["roce.cm.mode rxe0/1"].result == result


def test_an_hca_that_is_lost_is_not_hidden_by_soft_roce() -> None:
    tree = soft_roce_node.node()
    base = "/sys/bus/pci/devices/0000:18:00.0"
    for name, text in {"class": "0x020700", "vendor": "0x15b3", "device": "0x1021"}.items():
        tree.file(f"{base}/{name}", text)
    assert bad(judge(tree))["ib.hca.count host"] == "unknown"


@pytest.mark.parametrize("raw", [{"rxe0": ""}, {"rxe0": None}, {"rxe0": {"netdev": "eth0"}}])
def test_a_wish_without_an_interface_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(ExpectationError, match="rxe0: eth0"):
        from_inventory({"soft_roce": raw})
