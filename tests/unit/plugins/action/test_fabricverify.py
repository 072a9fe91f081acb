# SPDX-License-Identifier: GPL-3.0-or-later
"""The action fabricverify, asked ad hoc: who asks, and what comes of no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.fabricverify import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._observe import fabric_look
from tests.unit.fabrics import tree

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(
    inventory: Callable[..., dict[str, Any]],
    action: Callable[..., ActionBase],
    shown: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Run it on ``me``, of three hosts; ``asked``: what fabric_look returns there."""

    def over(me: str, asked: dict[str, Any], **more: Any) -> dict[str, Any]:
        hosts = ("node1", "node2", "node3")
        variables = {**inventory(**{name: {} for name in hosts}), "inventory_hostname": me}
        variables |= {"ansible_play_hosts_all": hosts, "ansible_play_hosts": hosts, **more}
        monkeypatch.setattr(ActionModule, "_execute_module", lambda *_, **__: asked)
        result: dict[str, Any] = action(ActionModule, variables, {}).run(task_vars=variables)
        return result

    return over


def heard() -> dict[str, Any]:
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0}
    return {"looks": [{**look, "packed": fabric_look.pack(tree().answers())}]}


def test_the_first_host_asks_for_all(run: Run) -> None:
    assert run("node1", heard())["verdict"] == "ready"
    assert "node1 asks for all" in run("node2", heard())["msg"]


def test_the_first_host_that_is_still_there_asks(run: Run) -> None:
    left = {"ansible_play_hosts": ["node2", "node3"]}
    assert run("node2", heard(), **left)["verdict"] == "ready"
    assert "node2 asks for all" in run("node3", heard(), **left)["msg"]


def test_a_host_that_could_not_ask_fails(run: Run) -> None:
    result = run("node1", {"failed": True, "msg": "the fabric was not asked: no link"})
    assert (result["failed"], "verdict" in result) == (True, False)


def test_a_host_without_infiniband_says_who_else_may_ask(run: Run) -> None:
    result = run("node1", {"looks": []})
    assert result["skipped"]
    assert "ibready_fabric_from" in result["msg"]
