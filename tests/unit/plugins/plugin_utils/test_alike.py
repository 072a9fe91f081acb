# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets of the gauntlet's nodes: what one of equal hosts has otherwise is found, by id."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._data import host_sysctls
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_time import Visit
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import consistency, hosts as _hosts
from tests.gauntlet import render
from tests.unit import fleets
from tests.unit.test_roles import ROOT

pytestmark = pytest.mark.thorough

BOARDS = sorted(render.boards())
H100, H200 = "hgx-h100-8", "hgx-h200-8-roce"
# Judged of the fabric, of pings or of visits, which bundles do not hold.
ELSEWHERE = {
    *("fleet.hca.guid_unique", "fleet.port.lid_unique", "fleet.sm.single", "fleet.ping.rtt"),
    "fleet.ping.longest",
    *("fleet.time.skew", "fleet.pci.link", "fleet.host.name"),
    *("fleet.imex.nodes", "fleet.imex.domain", "fleet.imex.version"),  # test_fleet_rack.py
}


def healthy(board: str, number: int, name: str = "") -> _hosts.Host:
    """A node of a fleet without any fault; nodes of all boards have GUIDs of their own."""
    node = fleets.described(board, number + 10 * BOARDS.index(board))
    return fleets.host(name or f"{board}-{number}", node, render.render(node))


def verified(*hosts: _hosts.Host, size: int = 0) -> dict[str, Any]:
    """The report as verify.yml has it."""
    return cluster.report(hosts, size=size or len(hosts), created=fleets.NOW, version="0.1.0")


def wrong(report: dict[str, Any]) -> set[tuple[str, str, str]]:
    """Host, id and result of what the fleet finds."""
    return {
        (name, check["id"], check["result"])
        for name, host in report["hosts"].items()
        for check in host["checks"]
        if check["id"].startswith("fleet.") and check["result"] in ("fail", "unknown")
    }


HOST_FILE = {"file": "/proc/cmdline", "replace": [" quiet", " quiet isolcpus=2-63"]}
NCCL = {"file": "/etc/nccl.conf", "text": "NCCL_ALGO=Ring\n"}
# mlx5_3 and mlx5_4 have exchanged their names.
RENAMED = [
    {
        "hca": "mlx5_3",
        "address": "0000:55:00.0",
        "numa": 1,
        "path": ["0000:50:01.0", "0000:51:00.0", "0000:52:04.0", "0000:55:00.0"],
    },
    {
        "hca": "mlx5_4",
        "address": "0000:45:00.0",
        "numa": 0,
        "path": ["0000:40:01.0", "0000:41:00.0", "0000:42:04.0", "0000:45:00.0"],
    },
]
# fmt: off
OUTLIERS = [
    ("fleet.host.kernel", H100, {"node": [{"kernel": "6.8.0-71-generic"}]}),
    ("fleet.hca.model", H100, {"node": [{"hca": "mlx5_3", "remove": True}]}),
    ("fleet.hca.order", H100, {"node": RENAMED}),
    ("fleet.hca.firmware", H100, {"node": [{"hca": "mlx5_3", "firmware": "28.39.1002"}]}),
    ("fleet.driver.version", H100, {"node": [{"driver": "580.95.05"}]}),
    ("fleet.driver.version", H100, {"node": [{"modules": "proprietary"}]}),
    ("fleet.fabric_manager.version", H100,
     {"evidence": [{"file": "/var/lib/dpkg/status",
                    "replace": ["Package: nvidia-fabricmanager\n", "Package: something-else\n"]}]}),
    ("fleet.rdma.version", H100, {"node": [{"ofed": "24.10-1.1.4.0"}]}),
    ("fleet.nccl.version", H100,
     {"evidence": [{"file": "/var/lib/dpkg/status", "replace": ["2.28.7-1+", "2.27.3-1+"]}]}),
    ("fleet.gpu.model", H100, {"node": [{"gpu": 2, "remove": True}]}),
    ("fleet.gpu.vbios", H100, {"node": [{"more": {"smi": {3: {"vbios_version": "96.00.74"}}}}]}),
    ("fleet.host.bios", H100, {"node": [{"more": {"bios": "1.9"}}]}),
    ("fleet.host.memory", H100, {"evidence": [{"file": "/proc/meminfo", "replace": ["2141192192", "2073034752"]}]}),
    ("fleet.host.cpus", H100,
     {"evidence": [{"file": "/sys/devices/system/cpu/online", "text": "0-111"},
                   {"file": "/sys/devices/system/cpu/smt/control", "text": "off"}]}),
    ("fleet.host.args", H100, {"evidence": [HOST_FILE]}),
    ("fleet.host.limits", H100, {"node": [{"more": {"nofile": 4096}}]}),
    ("fleet.host.sysctl", H100, {"node": [{"more": {"sysctls": {"net.core.rmem_max": 212992}}}]}),
    ("fleet.port.mtu", H100, {"node": [{"hca": "mlx5_1", "active_mtu": 2048}]}),
    ("fleet.container.engine", H100,
     {"evidence": [{"file": "/var/lib/dpkg/status",
                    "replace": ["Version: 1.18.1-1", "Version: 1.17.8-1"]}]}),
]
# fmt: on


@pytest.mark.parametrize(
    ("check", "board", "bent"),
    [pytest.param(*one, id=f"{one[0]} {i}") for i, one in enumerate(OUTLIERS)],
)
def test_the_one_that_differs_is_found_and_no_other(check: str, board: str, bent: dict[str, Any]) -> None:
    odd = fleets.host(fleets.ODD, *fleets.bent(board, 7, **bent))
    found = wrong(verified(*fleets.equals(board), odd))
    assert (fleets.ODD, check, "fail") in found
    assert {name for name, _, _ in found} == {fleets.ODD}


def test_two_hosts_with_one_name_are_both_named_and_who_tells_none_is_not() -> None:
    twin = fleets.host("twin", *fleets.bent(H100, 7, node=[{"more": {"hostname": "hgx-h100-8-17"}}]))
    other = healthy(H100, 8, "silent")
    silent = replace(other, node={"kernel": other.node["kernel"]})
    report = verified(*fleets.equals(H100), twin, silent)
    # By the inventory it is neither's.
    assert wrong(report) == {("node1", "fleet.host.name", "unknown"), ("twin", "fleet.host.name", "unknown")}
    check = next(one for one in report["hosts"]["twin"]["checks"] if one["id"] == "fleet.host.name")
    assert check["observed"] == "hgx-h100-8-17, also on node1"


@pytest.mark.parametrize(("kib", "lost"), [(2141192192, False), (2115000000, False), (2108000000, True)])
def test_what_kernel_and_firmware_keep_of_memory_is_no_difference(kib: int, lost: bool) -> None:
    bent = [{"file": "/proc/meminfo", "replace": ["2141192192", str(kib)]}]
    odd = fleets.host(fleets.ODD, *fleets.bent(H100, 7, evidence=bent))
    found = wrong(verified(*fleets.equals(H100), odd))
    assert found == ({(fleets.ODD, "fleet.host.memory", "fail")} if lost else set())


def test_a_host_whose_memory_nobody_could_read_did_not_tell_of_it() -> None:
    odd = healthy(H100, 7, fleets.ODD)
    odd = replace(odd, node={**odd.node, "memory_mb": None, "cpus": None})
    assert wrong(verified(*fleets.equals(H100), odd)) == {
        (fleets.ODD, check, "unknown") for check in ("fleet.host.memory", "fleet.host.cpus")
    }


def changed(host: _hosts.Host, area: str, change: Any) -> _hosts.Host:
    """The host with other facts of one area."""
    return replace(host, facts={**host.facts, area: {**host.facts[area], **change}})


def test_what_only_a_network_of_ethernet_has() -> None:
    equals = fleets.equals(H200)
    odd = healthy(H200, 7, fleets.ODD)
    ports = [dict(one) for one in odd.facts["roce"]["ports"]["value"]]
    ports[0]["gids"] = {"value": ports[0]["gids"]["value"][:2], "why": "", "missing": False}
    ports[1]["qos"] = {**ports[1]["qos"], "pfc": {"value": (), "why": "", "missing": False}}
    ports[2]["mtu"] = {"value": 1500, "why": "", "missing": False}
    ports[3]["mtu"] = {"value": None, "why": "timeout", "missing": False}
    reported = {"ports": {"value": tuple(ports), "why": "", "missing": False}}
    report = verified(*equals, changed(odd, "roce", reported))
    assert wrong(report) == {
        (fleets.ODD, "fleet.roce.gid", "fail"),
        (fleets.ODD, "fleet.roce.qos", "fail"),
        (fleets.ODD, "fleet.port.mtu", "fail"),
        (fleets.ODD, "fleet.port.mtu", "unknown"),
    }


def test_settings_of_nccl_differ_by_their_digest_and_devices_do_not_count() -> None:
    def node(name: str, number: int, settings: dict[str, str]) -> _hosts.Host:
        reported = {"settings": {"value": settings, "why": "", "missing": False}}
        return changed(healthy(H100, number, name), "nccl", reported)

    usual = {"NCCL_IB_TC": "106", "NCCL_ALGO": "Ring"}
    hosts = (
        node("a", 1, {**usual, "NCCL_IB_HCA": "mlx5_0"}),
        node("b", 2, {**usual, "NCCL_IB_HCA": "mlx5_1"}),
        node("c", 3, {"NCCL_IB_TC": "0", "NCCL_ALGO": "Ring"}),
    )
    report = verified(*hosts)
    assert wrong(report) == {("c", "fleet.nccl.settings", "fail")}
    check = next(one for one in report["hosts"]["c"]["checks"] if one["id"] == "fleet.nccl.settings")
    assert check["observed"].endswith(": NCCL_IB_TC=0")
    assert check["expected"].endswith(": NCCL_IB_TC=106")


def test_a_host_whose_gpus_nobody_could_look_for_did_not_tell_of_them() -> None:
    odd = changed(healthy(H100, 7, fleets.ODD), "machine", {"gpus": None})
    odd = changed(odd, "gpu", {"module": {}, "driver": "", "gpus": None})
    assert wrong(verified(*fleets.equals(H100), odd)) == {
        (fleets.ODD, check, "unknown") for check in ("fleet.gpu.model", "fleet.gpu.vbios", "fleet.driver.version")
    }


def test_every_check_of_the_fleet_has_an_outlier_here_or_a_test_elsewhere() -> None:
    mine = {one for one, _, _ in OUTLIERS} | ELSEWHERE
    mine |= {"fleet.roce.gid", "fleet.roce.qos", "fleet.nccl.settings"}
    mine |= {
        "fleet.equals.setting",
        "fleet.equals.other",
        "fleet.rail.address",
        "fleet.host.identity",
    }  # test_alike_leaves
    assert mine == {one for one in CATALOG if one.startswith("fleet.")}


def test_a_healthy_mixed_fleet_raises_nothing() -> None:
    hosts = [healthy(board, number) for board in BOARDS for number in (1, 2, 3)]
    assert wrong(verified(*hosts)) == set()


def test_single_hosts_of_many_platforms_raise_nothing_either() -> None:
    # Boards of one product are one platform, until three of them say that they are not.
    seen: dict[str, str] = {}
    for board in BOARDS:
        seen.setdefault(render.node(board).product, board)
    assert len(seen) > 3
    hosts = [healthy(board, 1) for board in seen.values()]
    assert wrong(verified(*hosts)) == set()


def test_of_an_inventory_that_is_not_whole_a_single_host_cannot_be_told() -> None:
    found = wrong(verified(healthy(H100, 1), healthy(H100, 2), healthy("hgx-a100-8", 1), size=4))
    assert {name for name, _, _ in found} == {"hgx-a100-8-1"}
    assert {result for _, _, result in found} == {"unknown"}


def test_a_host_that_lost_an_hca_among_three_platforms_is_held_against_its_own() -> None:
    odd = fleets.host(fleets.ODD, *fleets.bent(H100, 9, node=[{"hca": "mlx5_3", "remove": True}]))
    hosts = [healthy(board, number) for board in (H100, H200) for number in (1, 2, 3)]
    found = wrong(verified(*hosts, odd))
    assert (fleets.ODD, "fleet.hca.model", "fail") in found
    assert {name for name, _, _ in found} == {fleets.ODD}


def test_a_clock_that_is_off_is_found_among_visited_hosts() -> None:
    def seen(host: _hosts.Host, off: float) -> _hosts.Host:
        return replace(host, recorded="", visit=Visit(10.0, 20.0, 1e9 + 10.5 + off, 1e9 + 19 + off))

    hosts = [seen(healthy(H100, number), 0.2 * number) for number in (1, 2)]
    late = seen(healthy(H100, 7, fleets.ODD), -120.0)
    found = wrong(verified(*hosts, late))
    assert found == {(fleets.ODD, "fleet.time.skew", "fail")}


def test_a_host_whose_clock_did_not_come_back_is_unknown() -> None:
    reported = [replace(healthy(H100, number), recorded="") for number in (1, 2)]
    assert {check for _, check, _ in wrong(verified(*reported))} == {"fleet.time.skew"}


def test_foreign_facts_are_not_told_and_break_nothing() -> None:
    odd = healthy(H100, 7, fleets.ODD)
    for area in odd.facts:
        for nonsense in (None, [], "text", {"value": 1}, {"settings": 3, "ports": {"value": 7}}):
            strange = replace(odd, facts={**odd.facts, area: nonsense})
            found = wrong(verified(*fleets.equals(H100), strange))
            assert {name for name, _, _ in found} <= {fleets.ODD}


def test_one_of_two_thousand_is_found() -> None:
    one, odd = healthy(H100, 1), fleets.host("odd", *fleets.bent(H100, 2, node=[{"driver": "1.2"}]))
    many = [replace(one, name=f"n{at}", node={**one.node, "hostname": f"n{at}"}) for at in range(1999)] + [odd]
    checks = consistency.judge(many, len(many))
    wrong_ones = [name for name, mine in checks.items() if any(c.result == "fail" for c in mine)]
    assert wrong_ones == ["odd"]


def test_the_settings_of_the_kernel_that_are_compared_are_those_that_are_set() -> None:
    reported = yaml.safe_load((ROOT / "roles/host_tuning/defaults/main.yml").read_text())
    assert sorted(reported["host_tuning_sysctls"]) == sorted(host_sysctls.NAMES)
