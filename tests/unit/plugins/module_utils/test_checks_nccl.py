# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL on a host: what must not pass, and what must not be blamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.query import Query, to_text
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.nodes.nccl import PEER
from tests.gauntlet.tree import Tree

HGX = "hgx-h100-8"


def node(board: str = HGX, **more: Any) -> Node:
    made = render.node(board)
    made.more = more
    return made


def judge(made: Node, tree: Tree | None = None, **nccl: Any) -> list[Check]:
    expect = {**made.expect, "nccl": {"peers": [PEER], **nccl}}
    return _verify.verify(tree or render.render(made), from_inventory(expect), ["nccl"]).checks


def bad(checks: list[Check]) -> dict[str, str]:
    return {f"{one.id} {one.subject}": one.result for one in checks if one.result in (FAIL, UNKNOWN)}


def one(checks: list[Check], check_id: str, subject: str = "") -> Check:
    (found,) = [check for check in checks if check.id == check_id and subject in check.subject]
    return found


def answer(tree: Tree, old: str, new: str) -> Tree:
    """The library says another thing."""
    text = tree.run("nccl_proof").stdout
    assert old in text
    tree.command("nccl_proof", text.replace(old, new))
    return tree


def test_a_setting_that_the_site_asks_for_is_right_where_it_differs() -> None:
    made = node(nccl_conf={"NCCL_SOCKET_IFNAME": "=ib0"})
    tree = answer(render.render(made), '"192.0.2.10"', '"198.51.100.5"')
    interfaces = json.loads(tree.run("ip_addr").stdout)
    other = {**interfaces[1], "ifname": "ib0"}
    other["addr_info"] = [{**interfaces[1]["addr_info"][0], "local": "198.51.100.5"}]
    tree.command("ip_addr", json.dumps([*interfaces, other]))
    site = {"nccl_conf_variables": {"NCCL_SOCKET_IFNAME": "=ib0"}}
    assert bad(judge(made, tree, policy=site)) == {}
    assert one(judge(made, tree), "nccl.bootstrap.address").result == FAIL


def test_an_address_that_lo_has_as_well_is_the_interfaces() -> None:
    made = node()
    tree = render.render(made)
    interfaces = json.loads(tree.run("ip_addr").stdout)
    interfaces[0]["addr_info"].append(interfaces[1]["addr_info"][0])
    tree.command("ip_addr", json.dumps(interfaces))
    assert bad(judge(made, tree)) == {}


@pytest.mark.parametrize(
    ("board", "lines"),
    [
        ("l40s-8", {"NCCL_IB_HCA": None, "NCCL_SOCKET_IFNAME": None}),
        (HGX, {"NCCL_SOCKET_IFNAME": "eth0"}),
        (HGX, {"NCCL_IB_HCA": "^mlx5_8,mlx5_9"}),
    ],
)
def test_what_does_the_same_is_right(board: str, lines: dict[str, str | None]) -> None:
    checks = judge(node(board, nccl_conf=lines))
    assert not [check for check in checks if check.result == FAIL and check.severity == "error"]


@pytest.mark.parametrize(
    ("board", "value", "advice"),
    [
        (HGX, "mlx5_99", "name what is there"),
        # This board has mlx5_10, which HGX has not.
        ("hgx-b300-8", "mlx5_1", "write NCCL_IB_HCA==mlx5_1, if"),
    ],
)
def test_a_beginning_that_is_nobody_s_is_not_advised_to_be_exact(board: str, value: str, advice: str) -> None:
    doubt = one(judge(node(board, nccl_conf={"NCCL_IB_HCA": value})), "nccl.conf.doubts")
    assert doubt.result == "fail"
    assert doubt.remedy.startswith(advice)


def test_a_roce_host_whose_jobs_bring_their_nccl_is_not_unknown() -> None:
    made = render.node("hgx-h200-8-roce")
    made.expect = {key: value for key, value in made.expect.items() if key != "roce_gid_index"}
    tree = render.render(made)
    nothing = {"value": None, "why": "no libnccl.so.2", "missing": True}
    tree.command("nccl_proof", json.dumps({"library": nothing, "proof": nothing}) + "\n")
    tree.remove("/usr/lib/x86_64-linux-gnu/libnccl.so.2")
    status = tree.read("/var/lib/dpkg/status").replace("Package: libnccl2\n", "Package: other\n")
    tree.file("/var/lib/dpkg/status", status)
    checks = judge(made, tree)
    assert bad(checks) == {}
    assert one(checks, "nccl.conf.derived", "NCCL_IB_GID_INDEX").result == SKIP


def test_rdma_may_be_off_where_no_port_is_a_rail() -> None:
    made = node(nccl_conf={"NCCL_IB_HCA": None, "NCCL_IB_DISABLE": "1"})
    storage = {"nccl_storage_hcas": [hca.name for hca in made.hcas]}
    assert one(judge(made, policy=storage), "nccl.conf.harm").result in (PASS, UNKNOWN)
    assert one(judge(made), "nccl.conf.harm").result == FAIL


def test_a_virtual_machine_may_have_nccls_own_topology_file() -> None:
    made = render.node("cloud-a100-8-vm")
    made.more = {}
    tree = render.render(made)
    assert one(judge(made, tree), "nccl.gdr.level").result == PASS
    tree.file("/var/run/nvidia-topologyd/virtualTopology.xml", "<system/>")
    assert one(judge(made, tree), "nccl.gdr.level").result == SKIP


@pytest.mark.parametrize(("virtual", "said"), [(True, True), (False, False), (None, False)])
def test_the_hypervisor_s_bus_is_told_of_only_where_there_is_a_hypervisor(virtual: bool | None, said: bool) -> None:
    made = render.node("hgx-h200-8-roce")
    made.hca("mlx5_0").address, made.hca("mlx5_0").path = "0000:98:00.0", ("0000:97:01.0", "0000:98:00.0")
    made.virtual = bool(virtual)
    tree = render.render(made)
    if virtual is None:
        for path in ("/proc/cpuinfo", "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"):
            tree.remove(path)
    check = one(judge(made, tree), "nccl.gdr.level")
    assert (check.result, "hypervisor" in check.cause) == (FAIL, said)


@pytest.mark.parametrize("name", ["UCX_TLS", "GLOO_SOCKET_IFNAME", "FI_PROVIDER", "NCCL_FASTRAK_X"])
def test_what_another_library_reads_is_a_doubt_unless_the_site_asks_for_it(name: str) -> None:
    made = node(nccl_conf={name: "1"})
    checks = judge(made)
    assert {key.split()[0] for key in bad(checks)} <= {"nccl.conf.doubts"}
    site = {"nccl_conf_variables": {name: "1"}}
    assert bad(judge(made, policy=site)) == {}


def test_of_many_homes_on_other_machines_the_rest_is_counted() -> None:
    made = node()
    tree = render.render(made)
    unseen = "".join(f"unseen\t/home/{at}\ton another machine: what users set there is not seen\n" for at in range(6))
    tree.command("nccl_copies", tree.run("nccl_copies").stdout.replace("end\t1", f"{unseen}end\t7"))
    assert "/home/3 and 2 more, on another machine" in one(judge(made, tree), "nccl.copies.conf").cause


@pytest.mark.parametrize(("vendor", "doubted"), [("Oracle Corporation", False), ("Supermicro", True)])
def test_what_a_provider_recommends_is_a_doubt_on_hosts_of_others_alone(vendor: str, doubted: bool) -> None:
    made = node(nccl_conf={"NCCL_CUMEM_ENABLE": "0"})
    made.vendor = vendor
    assert bad(judge(made)) == ({"nccl.conf.doubts /etc/nccl.conf:3": FAIL} if doubted else {})


def test_a_provider_recommends_no_other_value() -> None:
    made = node(nccl_conf={"NCCL_ALGO": "Tree"})
    made.vendor = "Oracle Corporation"
    assert set(bad(judge(made)).values()) == {FAIL}


def test_homes_on_another_machine_are_not_taken_for_looked_at() -> None:
    made = node()
    tree = render.render(made)
    text = tree.run("nccl_copies").stdout.replace(
        "end\t1", "unseen\t/home\ton another machine: what users set there is not seen\nend\t2"
    )
    tree.command("nccl_copies", text)
    checks = judge(made, tree)
    assert one(checks, "nccl.copies.conf").result == SKIP
    assert bad(checks) == {}


@pytest.mark.parametrize(
    ("looked_up", "route", "result"),
    [
        ("192.0.2.11  STREAM\n", "eth0", PASS),
        ("fe80::1  STREAM\n192.0.2.11  STREAM\n", "eth0", PASS),
        ("", "eth0", SKIP),
    ],
)
def test_names_of_other_nodes(looked_up: str, route: str, result: str) -> None:
    made = node()
    tree = render.render(made)
    tree.command("getent_ahosts@node2", looked_up, 0 if looked_up else 2)
    peers = ["node2"] if looked_up else []
    assert one(judge(made, tree, peers=peers), "nccl.conf.derived", "SOCKET").result == result
    # One name that nobody knows any more.
    tree.command("getent_ahosts@gone", "", 2)
    assert one(judge(made, tree, peers=["gone", PEER]), "nccl.conf.derived", "SOCKET").result == PASS
    reported = one(judge(made, tree, peers=["gone"]), "nccl.conf.derived", "SOCKET")
    assert reported.result == UNKNOWN


def test_a_name_service_that_is_down_is_not_asked_for_every_node() -> None:
    made = node()
    tree = render.render(made)
    asked: list[str] = []
    real = tree.run

    def run(name: str, *args: str) -> Any:
        if name == "getent_ahosts":
            asked.extend(args)
        return real(name, *args)

    tree.run = run  # type: ignore[method-assign]
    judge(made, tree, peers=[f"n{at}" for at in range(60)])
    assert len(set(asked)) == 3


@pytest.mark.parametrize("source", ["nccl_copies", "systemctl_show"])
def test_an_environment_that_nobody_could_read_is_not_taken_for_harmless(source: str) -> None:
    made = node()
    tree = render.render(made)
    for name in [name for name in tree.commands if name.partition("@")[0] == source]:
        tree.broken[name] = "gave no complete answer within 30 s"
    assert one(judge(made, tree), "nccl.conf.harm").result == UNKNOWN


def test_a_library_that_could_not_be_read_is_not_taken_for_none() -> None:
    made = render.node("ib-login")
    tree = render.render(made)
    assert {check.result for check in judge(made, tree)} == {SKIP}
    tree.broken["nccl_proof"] = "permission denied"
    assert UNKNOWN in bad(judge(made, tree)).values()


@pytest.mark.parametrize("how", ["/etc/ld.so.conf.d/x86_64-linux-gnu.conf", "/etc/environment"])
def test_without_the_linker_s_answer_no_copy_is_taken_away(how: str) -> None:
    made = node()
    tree = render.render(made)
    why = "ldconfig: Can't open cache file /etc/ld.so.cache : No such file or directory"
    nothing: Reading[Any] = Reading(None, why)
    tree.command("nccl_proof", to_text(Query(nothing, nothing)))
    tree.command("nccl_copies", tree.run("nccl_copies").stdout.replace("library folder", how))
    checks = judge(made, tree)
    for check in (one(checks, "nccl.copies.library"), one(checks, "nccl.library.version")):
        assert (check.result, check.cause) == (UNKNOWN, why)
        assert check.remedy.startswith("run `ldconfig`")
    assert not any("take the folder out" in check.remedy for check in checks)
