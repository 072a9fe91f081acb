# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's part of nccl.conf: where the nodes are, and the lines of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.ibready.cluster.plugins.action import nccl_host
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.observe_host import look
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import Desired, read as wish
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import nccl_derive, nccl_peers
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]


def looked(board: str, nccl: str = "2.28.7", policy: dict[str, Any] | None = None) -> Any:
    """What a node of this board told."""
    node = render.node(board)
    expect = {key: one for key, one in node.expect.items() if key != "roce_gid_index"}
    host = look(render.render(node), from_inventory(expect), [PEER], nccl)
    wanted = wish({"policy": policy or {}, "peers": [PEER]})
    return {"__nccl_host": {"nccl_host": host.to_dict(), "wish": wanted.to_dict()}}


@pytest.fixture
def derive(inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Derive for these hosts; returns the answer and what was warned of."""

    def run(told: dict[str, Any], compare: dict[str, Any] | None = None) -> tuple[dict[str, Any], list[str]]:
        variables = inventory(**told, **(compare or {}))
        warned: list[str] = []
        monkeypatch.setattr(Display, "warning", lambda _, text: warned.append(text))
        return nccl_derive(variables["hostvars"], list(told), [*told, *(compare or {})])["hosts"], warned

    return run


def lines(one: dict[str, Any]) -> dict[str, str]:
    return {line["name"]: line["value"] for line in one["settings"]}


def test_every_host_gets_its_own_lines(derive: Any) -> None:
    policy = {"nccl_conf_variables": {"NCCL_DEBUG": "WARN"}}
    found, warned = derive({"a": looked("hgx-h100-8"), "b": looked("h100-pcie-2", policy=policy)})
    assert lines(found["a"]) == {
        "NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
        "NCCL_SOCKET_IFNAME": "=eth0",
    }
    assert lines(found["b"])["NCCL_DEBUG"] == "WARN"
    assert {one["port"] for one in found["a"]["left_out"]} == {"mlx5_8/1", "mlx5_9/1"}
    assert warned == []


def test_hosts_of_an_older_nccl_are_compared(derive: Any) -> None:
    found, _warned = derive({"a": looked("hgx-h200-8-roce", "2.19.3")})
    assert lines(found["a"])["NCCL_IB_GID_INDEX"] == "3"
    other = looked("hgx-h200-8-roce", "2.19.3")
    for port in other["__nccl_host"]["nccl_host"]["ports"]["value"]:
        for entry in port["gids"]["value"] or ():
            entry["index"] += 4
    found, warned = derive({"a": looked("hgx-h200-8-roce", "2.19.3")}, {"b": other})
    assert "NCCL_IB_GID_INDEX" not in lines(found["a"])
    assert found["a"]["keep"] == ["NCCL_IB_GID_INDEX"]
    assert "no index is right on every node" in warned[0]


def test_while_a_node_is_not_looked_at_no_shared_line_is_begun_or_taken_back(derive: Any) -> None:
    found, warned = derive({"a": looked("hgx-h200-8-roce", "2.19.3")}, {"b": {}})
    assert "NCCL_IB_GID_INDEX" not in lines(found["a"])
    assert found["a"]["keep"] == ["NCCL_IB_ADDR_FAMILY", "NCCL_IB_GID_INDEX"]
    assert "it may be 3, but nobody could compare b" in warned[0]
    found, warned = derive({"a": looked("hgx-h200-8-roce")}, {"b": {}})
    assert warned == []
    assert found["a"]["keep"] == ["NCCL_IB_ADDR_FAMILY", "NCCL_IB_GID_INDEX"]


def test_what_is_not_written_is_told_once_for_all_hosts(derive: Any) -> None:
    reported = looked("hgx-h100-8")
    reported["__nccl_host"]["nccl_host"]["routes"] = {}
    found, warned = derive({"a": reported, "b": reported})
    assert found["a"]["keep"] == found["b"]["keep"] == ["NCCL_SOCKET_IFNAME"]
    assert len(warned) == 1
    assert warned[0].startswith("a, b: NCCL_SOCKET_IFNAME is not written: no address of another")


def test_a_host_that_told_nothing_has_no_part(derive: Any) -> None:
    failed = {"__nccl_host": {"failed": True, "msg": "no"}}
    found, _warned = derive({"a": looked("hgx-h100-8"), "b": {}, "c": failed})
    assert list(found) == ["a"]


def test_a_login_node_gets_no_line(derive: Any) -> None:
    found, warned = derive({"a": looked("ib-login", "")})
    assert lines(found["a"]) == {}
    assert found["a"]["keep"] == []
    assert warned == []


def test_what_cannot_be_read_names_the_host(derive: Any) -> None:
    broken = {"__nccl_host": {"nccl_host": {"ports": 1}, "wish": Desired().to_dict()}}
    found, warned = derive({"a": looked("hgx-h100-8"), "b": broken})
    assert list(found) == ["a"]
    assert warned == [
        "b: nothing is derived for it: what it answered cannot be read: nccl_host.ports: a number, and not an object"
    ]


def peers(inventory: Inventory, **hosts: dict[str, Any]) -> list[str]:
    return nccl_peers(inventory(**hosts)["hostvars"], list(hosts))


def test_nodes_are_where_the_inventory_says(inventory: Inventory) -> None:
    assert peers(
        inventory,
        a={"ansible_host": "10.0.0.1"},
        b={"ansible_host": "10.0.0.2", "ibready_address": "172.16.0.2"},
        c={},
        d={"ansible_connection": "local"},
    ) == ["10.0.0.1", "172.16.0.2", "c"]


def test_hosts_without_gpus_are_no_nodes(inventory: Inventory) -> None:
    gpu = {"ibready_node": {"node": {"gpus": ["0000:10:00.0"]}}}
    login: dict[str, Any] = {"ibready_node": {"node": {"gpus": []}}}
    assert peers(inventory, a=gpu, b=gpu, c=login) == ["a", "b"]
    assert peers(inventory, a=login, b={}) == ["b"]
    assert peers(inventory, a=login, b=login) == ["a", "b"]


def test_of_very_many_nodes_some_stand_for_all(inventory: Inventory) -> None:
    hosts: dict[str, dict[str, Any]] = {f"n{at:03d}": {} for at in range(300)}
    found = peers(inventory, **hosts)
    assert len(found) == 64
    assert found[0] == "n000"
    assert found == sorted(found)


def test_a_node_is_asked_with_the_word_of_the_inventory(
    action: Action, inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, Any] = {}

    def node(_: ActionBase, **given: Any) -> dict[str, Any]:
        seen.update(given)
        return {}

    monkeypatch.setattr(ActionBase, "_execute_module", node)
    variables = inventory(n1={"ansible_host": "10.0.0.1"}, n2={"ansible_host": "10.0.0.2"})
    variables |= {"ibready_expect": {"hcas": 8}, "nccl_ib_tc": 106}
    plugin = action(nccl_host.ActionModule, variables, {"version": "2.28.9"})
    plugin.run(task_vars=variables)
    assert seen["module_name"] == "ibready.cluster.nccl_host"
    assert seen["module_args"] == {
        "version": "2.28.9",
        "expect": {
            "hcas": 8,
            "nccl": {"policy": {"nccl_ib_tc": 106}, "peers": ["10.0.0.1", "10.0.0.2"]},
        },
    }
    variables["__nccl_peers"] = ["10.9.9.9"]
    plugin = action(nccl_host.ActionModule, variables, {})
    plugin.run(task_vars=variables)
    assert seen["module_args"]["expect"]["nccl"]["peers"] == ["10.9.9.9"]
