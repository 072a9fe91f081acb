# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets of the gauntlet's nodes: what no check names and one of equal hosts has otherwise is found, and once.

source: what operators of GPU clusters report that one host of many had: a copied address, a VLAN, clocks held, a power
cap set from outside, a slow port of the management network, microcode, error correction, a cable in another fabric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.gauntlet import fault, render
from tests.gauntlet.tree import Tree
from tests.unit import fleets

pytestmark = pytest.mark.thorough

H100, H200 = "hgx-h100-8", "hgx-h200-8-roce"
Change = Mapping[str, Any]
GRAPHICS = "<graphics_clock>1980 MHz</graphics_clock>\n\t\t\t<mem_clock>2619 MHz</mem_clock>\n\t\t</clocks>"
BUSY = [
    {"command": "nvsmi_xml", "replace": ["<graphics_clock>345 MHz", "<graphics_clock>1980 MHz"]},
    {"command": "nvsmi_xml", "replace": ["gpu_idle>Active", "gpu_idle>Not Active"]},
]
MICROCODE = {
    "file": "/proc/cpuinfo",
    "replace": ["vendor_id\t: GenuineIntel", "vendor_id\t: GenuineIntel\nmicrocode\t: 0x2b000603"],
}
SM = "sminfo: sm lid 7 sm guid 0xb8599f0300c40007, activity count 911 priority 14 state 3 SMINFO_MASTER\n"


def file(path: str, text: str) -> Change:
    return {"file": path, "text": text}


def machine_id(number: int) -> Change:
    return file("/etc/machine-id", f"4c4c454400395710803{number}b4c04f564d31")


def vlan(tree: Tree, number: int) -> None:
    for path in [path for path in tree.files if "/gid_attrs/ndevs/" in path]:
        tree.files[path] = tree.files[path].replace(b".100", f".{number}".encode())


def addresses(tree: Tree, number: int, rails: Sequence[int] = range(8)) -> None:
    """RoCE rails have addresses of their host."""
    for rail in rails:
        for index in (2, 3):
            path = f"/sys/class/infiniband/mlx5_{rail}/ports/1/gids/{index}"
            text = f"0000:0000:0000:0000:0000:ffff:0a{rail:02x}:{number:02x}05\n"
            tree.files[tree._resolve(path)] = text.encode()


def wrong(
    board: str, base: Sequence[Change], odd: Sequence[Change], node: Sequence[Change] = (), more: Any = None
) -> set[str]:
    """What is found of three hosts, of which the last has ``odd``."""
    hosts = []
    for number in (1, 2, 3):
        last = number == 3
        described = fleets.described(board, number)
        for change in node if last or more == "all" else ():
            fault._change_node(described, dict(change))
        tree = render.render(described)
        if board == H200:
            addresses(tree, number)
        for change in (*base, machine_id(number), *(odd if last else ())):
            fault._change_evidence(tree, dict(change))
        if callable(more) and last:
            more(tree)
        hosts.append(fleets.host(f"node{number}", described, tree))
    report = fleets.report(hosts)
    return {
        f"{name} {check['id']} {check['subject']}: {check['observed']}"
        for name, host in report["hosts"].items()
        for check in host["checks"]
        if check["result"] == "fail" or (check["id"].startswith("fleet.") and check["result"] == "unknown")
    }


@pytest.mark.parametrize("board", [H100, H200])
def test_equal_hosts_differ_in_nothing(board: str) -> None:
    assert wrong(board, (), ()) == set()
    # One of them works, the others do not.
    assert wrong(board, (), BUSY) == set()


GPUS = "0000:13:00.0 0000:23:00.0 0000:33:00.0 0000:43:00.0 and 4 more"
OTHER, SETTING = "fleet.equals.other", "fleet.equals.setting"
ETH0 = "/sys/class/net/eth0/speed"


@pytest.mark.parametrize(
    ("board", "base", "odd", "found"),
    [
        pytest.param(
            *(H100, BUSY, [{"command": "nvsmi_xml", "replace": [GRAPHICS, GRAPHICS.replace("1980", "1200")]}]),
            {f"{OTHER} {GPUS}: nvidia-smi/clocks/graphics_clock: 1200 MHz"},
            id="every GPU of a host runs slower under the same load",
        ),
        pytest.param(
            *(H100, [file(ETH0, "25000")], [file(ETH0, "1000")], {f"{OTHER} host: {ETH0}: 1000"}),
            id="the port of the management network is slow",
        ),
        pytest.param(
            *(H100, [MICROCODE], [{"file": "/proc/cpuinfo", "replace": ["0x2b000603", "0x2b000111"]}]),
            {f"{OTHER} host: /proc/cpuinfo/microcode: 0x2b000111"},
            id="older microcode",
        ),
        pytest.param(
            *(H100, (), [{"command": "timedatectl_show", "replace": ["Etc/UTC", "Asia/Tokyo"]}]),
            {f"{OTHER} host: timedatectl/Timezone: Asia/Tokyo"},
            id="another time zone",
        ),
        pytest.param(
            *(H100, [file("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999")]),
            [file("/proc/sys/net/ipv4/ip_local_port_range", "60000\t60010")],
            {"host.floor.usual net.ipv4.ip_local_port_range: 60000 60010 (11)"},
            id="eleven ports for connections, which the host tells itself",
        ),
        pytest.param(
            *(H100, [file("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999")]),
            [file("/proc/sys/net/ipv4/ip_local_port_range", "20000\t60999")],
            {f"{OTHER} host: /proc/sys/net/ipv4/ip_local_port_range: 20000\t60999"},
            id="other ports for connections",
        ),
    ],
)
def test_what_one_host_has_otherwise_is_found_once(
    board: str, base: Sequence[Change], odd: Sequence[Change], found: set[str]
) -> None:
    assert wrong(board, base, odd) == {f"node3 {one}" for one in found}


def test_a_lower_power_limit_of_every_gpu_is_found() -> None:
    smi = {"all": {"default_power_limit": "650.00 W", "current_power_limit": "650.00 W"}}
    limits = "nvidia-smi/gpu_power_readings/{}_power_limit: 650.00 W"
    told = "; ".join(limits.format(which) for which in ("current", "default"))
    assert wrong(H100, (), (), [{"more": {"smi": smi}}]) == {f"node3 {SETTING} {GPUS}: {told}"}


def test_all_rails_on_another_vlan_are_one_finding() -> None:
    tagged = [{"more": {"roce_vlan": {"all": 9000}}}]
    (found,) = {one for one in wrong(H200, (), (), tagged * 3, lambda tree: vlan(tree, 202)) if f" {SETTING} " in one}
    assert "rdma/interfaces: eth0" in found


def test_an_address_on_two_hosts_is_told_of_both() -> None:
    found = wrong(H200, (), (), (), lambda tree: addresses(tree, 2, [2]))
    assert found == {
        "node2 fleet.rail.address mlx5_2/1: address 10.2.2.5, also on node3 mlx5_2/1",
        "node3 fleet.rail.address mlx5_2/1: address 10.2.2.5, also on node2 mlx5_2/1",
    }


def test_one_machine_id_on_two_hosts_is_told_of_both() -> None:
    found = wrong(H100, (), [machine_id(1)])
    assert {one[: one.index(":")] for one in found} == {f"node{at} fleet.host.identity host" for at in (1, 3)}


def test_a_rail_of_another_fabric_is_told_of_in_the_report_of_the_fleet() -> None:
    odd = [{"command": "sminfo@mlx5_6-1", "stdout": SM}]
    found = wrong(H100, (), odd, [{"hca": "mlx5_6", "sm_lid": 7, "lid": 211}])
    assert {one.split(":")[0] for one in found} == {
        "node3 ib.equals.setting mlx5_6/1",
        "node3 fleet.sm.single mlx5_6/1",
    }


def test_two_of_another_distribution_are_no_finding_and_one_is_told_as_that() -> None:
    rocky = {"os_id": "rocky", "os_version": "9.4", "kernel": "5.14.0-427.13.1.el9_4.x86_64"}
    hosts = [fleets.host(f"node{at}", *fleets.bent("l40s-8", at, node=[rocky] if at > 3 else ())) for at in range(1, 6)]
    for some, kernels in (
        (hosts, []),
        (hosts[:4], ["it runs rocky 9.4, and its equals ubuntu 24.04 (/etc/os-release)"]),
    ):
        checks = [check for host in fleets.report(some)["hosts"].values() for check in host["checks"]]
        failures = [check for check in checks if check["result"] == "fail"]
        assert [check["cause"] for check in failures if check["id"] == "fleet.host.kernel"] == kernels
        assert bool(failures) is bool(kernels)
