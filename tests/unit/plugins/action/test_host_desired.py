# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host answers to a comparison is data of that host, or a failure of that host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import host_desired

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]
ENTRY = {"role": "plan", "task": "x", "state": "differs", "why": "", "diff": [{"before": "a", "after": "b"}]}


@pytest.fixture
def compared(action: Action, inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    def run(answer: dict[str, Any], **args: Any) -> dict[str, Any]:
        monkeypatch.setattr(host_desired, "ask_host", lambda *_: answer)
        given = {"roles": [], **args}
        variables = {**inventory(n1={}), "inventory_hostname": "n1"}
        done: dict[str, Any] = action(host_desired.ActionModule, variables, given).run(task_vars=variables)
        return done

    return run


def test_what_differs_names_who_acts_on_it(compared: Callable[..., dict[str, Any]]) -> None:
    done = compared({"told": [ENTRY]})
    assert (done["run"], done["differs"], done["compared"]) == (["plan"], [ENTRY], True)
    assert compared({"told": []})["run"] == []


@pytest.mark.parametrize(
    "told",
    [
        None,
        "nothing",
        {},
        [7],
        [{**ENTRY, "role": ["a"]}],
        [{**ENTRY, "diff": 7}],
        [{**ENTRY, "diff": [{"before": 1}]}],
        [{key: value for key, value in ENTRY.items() if key != "state"}],
    ],
)
def test_an_answer_of_another_shape_fails_for_that_host(compared: Callable[..., dict[str, Any]], told: Any) -> None:
    with pytest.raises(AnsibleActionFail, match=r"n1: the comparison's answer cannot be read: .*Next: "):
        compared({"told": told})


def test_never_asks_nobody(compared: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    roles = [{"name": "host_tuning"}, {"name": "roce", "wanted": False}]
    done = compared({}, roles=roles, compare="never")
    assert (done["run"], done["compared"]) == (["host_tuning"], False)
