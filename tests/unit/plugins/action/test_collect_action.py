# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.collect import ActionModule

PEERS = ["10.0.0.2"]


@pytest.mark.parametrize(
    ("variables", "args", "expect"),
    [
        pytest.param({"ibready_expect": {"hcas": 8}}, {}, {"hcas": 8}, id="the inventory's"),
        pytest.param({"ibready_expect": {"hcas": 8}}, {"expect": {"hcas": 1}}, {"hcas": 1}, id="the task's own"),
        pytest.param({"roce_manage": True, "roce_mtu": 9000}, {}, {"roce_mtu": 9000}, id="a role's"),
        pytest.param({"__nccl_peers": PEERS}, {}, {"nccl": {"policy": {}, "peers": PEERS}}, id="where the others are"),
    ],
)
def test_the_bundle_gets_what_a_verify_goes_by(
    action: Callable[..., ActionBase],
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, Any],
    args: dict[str, Any],
    expect: dict[str, Any],
) -> None:
    def node(_: ActionBase, **given: Any) -> dict[str, Any]:
        return {"path": "/root/bundles/n1", "given": given}

    monkeypatch.setattr(ActionBase, "_execute_module", node)
    done: dict[str, Any] = action(ActionModule, variables, {"dest": "/root/bundles", **args}).run(task_vars=variables)
    assert done["given"]["module_name"] == "ibready.cluster.collect"
    assert done["given"]["module_args"] == {"dest": "/root/bundles", "expect": expect}
