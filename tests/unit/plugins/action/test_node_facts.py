# SPDX-License-Identifier: GPL-3.0-or-later
"""A host that answers the contact joins its group as Ansible's own group_by has it join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.plugins.action import ActionBase
from ansible.plugins.action.group_by import ActionModule as GroupBy

from ansible_collections.ibready.cluster.plugins.action import node_facts

JOINED = "ibready_reached"


@pytest.fixture
def contact(
    inventory: Callable[..., dict[str, Any]], action: Callable[..., ActionBase], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """The contact of a host whose answer is known."""

    def ask(answer: dict[str, Any]) -> dict[str, Any]:
        monkeypatch.setattr(ActionBase, "_execute_module", lambda *_, **__: dict(answer))
        variables = inventory(n1={})
        done: dict[str, Any] = action(node_facts.ActionModule, variables, {"group": JOINED}).run(task_vars=variables)
        return done

    return ask


def test_who_answers_joins_by_whatever_group_by_does(
    contact: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def joins(self: GroupBy, tmp: object = None, task_vars: object = None) -> dict[str, Any]:
        asked.append(dict(self._task.args))
        return {"of_another_release": True}

    monkeypatch.setattr(GroupBy, "run", joins)
    told = contact({"changed": False, "node": {"hostname": "n1"}})
    assert asked == [{"key": JOINED}]
    assert told["of_another_release"] is True
    assert told["node"] == {"hostname": "n1"}


@pytest.mark.parametrize("answer", [{"failed": True, "msg": "no"}, {"unreachable": True, "msg": "no"}])
def test_who_does_not_answer_joins_nothing(
    answer: dict[str, Any], contact: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GroupBy, "run", lambda *_, **__: pytest.fail("it was grouped"))
    assert answer.items() <= contact(answer).items()
