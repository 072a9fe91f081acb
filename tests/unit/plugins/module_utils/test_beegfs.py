# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample is made by the format strings of the client module's ProcFsHelper.c, not recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import check_beegfs, observe_beegfs
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import Beegfs, StackFacts
from ansible_collections.ibready.cluster.plugins.module_utils._ground.keyvalue import ConfError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import beegfs_conf, beegfs_net
from ansible_collections.ibready.cluster.plugins.module_utils._parse.beegfs_net import BeegfsNode, Connections
from tests.gauntlet.tree import Tree

SAMPLE = (Path(__file__).parents[2] / "parse_samples/beegfs_net.txt").read_text()
RDMA = Connections("RDMA", 8, "192.0.2.42:8003")
TCP = Connections("TCP", 1, "198.51.100.42:8003", True)


def test_every_server_and_each_kind_of_its_connections() -> None:
    found = beegfs_net.parse(SAMPLE)
    assert [(one.name, one.number, one.role) for one in found] == [
        ("mgmt1", 1, "mgmt_nodes"),
        ("meta1", 1, "meta_nodes"),
        ("storage1", 1, "storage_nodes"),
        ("storage2", 2, "storage_nodes"),
    ]
    assert found[2].connections == (TCP, RDMA)
    assert found[3].connections == ()
    assert beegfs_net.parse("") == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("storage1 [ID: 1]\n", "without its connections"),
        ("storage1 [ID: 1]\nstorage2 [ID: 2]\n   Connections: <none>\n", "without its connections"),
        ("   Connections: <none>\n", "of no server"),
        ("storage1 [ID: 1]\n   Connections: IB: 3 (x);\n", "'IB: 3 .x.' is no connection"),
        ("storage1 [ID: 1]\n   Connections not available [Error: Out of memory]\n", "neither"),
        ("BeeGFS is not mounted\n", "neither"),
    ],
)
def test_what_is_no_list_of_servers_is_said(text: str, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        beegfs_net.parse(text)


def judged(*nodes: BeegfsNode, use_rdma: bool | None = None) -> tuple[str, str, str]:
    facts = StackFacts(devices=Reading(("mlx5_0",)), beegfs=Beegfs(Reading(nodes), Reading(use_rdma)))
    check = check_beegfs.judge(facts, Machine())
    assert (check.expected_from == "") is (check.result not in ("pass", "fail"))
    return check.result, check.observed, check.cause


def server(name: str, *connections: Connections) -> BeegfsNode:
    return BeegfsNode(name, 1, "storage_nodes", connections)


def test_a_server_by_tcp_fails_and_is_named() -> None:
    result, observed, _cause = judged(server("s1", RDMA), server("s2", TCP))
    assert (result, observed) == ("fail", "s2 by TCP 198.51.100.42:8003 (another way)")
    assert judged(server("s1", RDMA, TCP))[0] == "fail"


def test_idle_servers_are_no_failure_and_no_pass() -> None:
    assert judged(server("s1", RDMA), server("s2"))[:2] == ("pass", "RDMA to 1 of 2 servers")
    assert judged(server("s1"), server("s2"))[0] == "unknown"


def test_a_site_that_wants_tcp_is_left_alone() -> None:
    assert judged(server("s1", TCP), use_rdma=False)[0] == "skip"


def test_without_a_mount_there_is_nothing_to_judge() -> None:
    seen = observe_beegfs.observe(Tree())
    assert (seen.nodes.missing, seen.use_rdma.missing) == (True, True)
    check = check_beegfs.judge(StackFacts(beegfs=seen), Machine())
    assert (check.result, check.cause) == ("skip", "no BeeGFS is mounted")


def test_what_cannot_be_read_is_unknown() -> None:
    tree = Tree(broken={observe_beegfs.PROC: "permission denied"})
    facts = StackFacts(devices=Reading(("mlx5_0",)), beegfs=observe_beegfs.observe(tree))
    assert check_beegfs.judge(facts, Machine()).result == "unknown"


FILE = """\
# This is a config file for BeeGFS clients.
sysMgmtdHost                  = storage-head

connUseRDMA                   = false
connRDMABufNum                = 70
connInterfacesFile            =
# Example: connUseRDMA = true
"""


def test_values_change_where_they_stand_and_all_else_is_kept() -> None:
    new = beegfs_conf.changed(FILE, {"connUseRDMA": "true", "connRDMABufSize": "65536"})
    assert new == FILE.replace("= false", "= true") + "connRDMABufSize = 65536\n"
    assert beegfs_conf.changed(new, {"connUseRDMA": "true", "connRDMABufSize": "65536"}) == new
    assert beegfs_conf.changed(FILE, {}) == FILE


def test_an_empty_value_is_filled_and_a_doubled_one_changed_twice() -> None:
    new = beegfs_conf.changed(FILE + "connUseRDMA=false", {"connInterfacesFile": "/a", "connUseRDMA": "true"})
    assert "connInterfacesFile            = /a\n" in new
    assert (new.count("= true"), new.endswith("connUseRDMA=true")) == (2, True)
    assert beegfs_conf.value_of(new, "connUseRDMA") == "true"


@pytest.mark.parametrize("value", ["a\nb", " a", "a "])
def test_a_value_that_fits_on_no_line_is_refused(value: str) -> None:
    with pytest.raises(ConfError, match="connUseRDMA"):
        beegfs_conf.changed(FILE, {"connUseRDMA": value})


def test_build_arguments_of_the_site_stay() -> None:
    text = "buildArgs=-j8 NVFS_INCLUDE_PATH=/usr/src/nvidia-fs-2.13.5 OFED_INCLUDE_PATH=/old\n"
    place = "/usr/src/ofa_kernel/default/include"
    new = beegfs_conf.argument(text, "buildArgs", "OFED_INCLUDE_PATH", place)
    assert new == {"buildArgs": f"-j8 NVFS_INCLUDE_PATH=/usr/src/nvidia-fs-2.13.5 OFED_INCLUDE_PATH={place}"}
    assert beegfs_conf.changed(text, new) == f"buildArgs={new['buildArgs']}\n"
    assert beegfs_conf.argument(text, "buildArgs", "OFED_INCLUDE_PATH", "")["buildArgs"].endswith("2.13.5")
