# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host answers to a comparison is data of that host, or a failure of that host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import init_plugin_loader
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

from ansible_collections.ibready.cluster.plugins.action import host_desired

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]
ENTRY = {"role": "plan", "task": "x", "state": "differs", "why": "", "diff": [{"before": "a", "after": "b"}]}


@pytest.fixture
def plugins() -> Iterator[None]:
    """Ansible finds its lookups only so; and what other tests import it would look for elsewhere."""
    init_plugin_loader([])
    yield
    _AnsibleCollectionFinder._remove()


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


@pytest.mark.usefixtures("plugins")
def test_a_host_that_grants_less_is_held_against_what_its_role_writes_for_it(
    action: Action, inventory: Inventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As converge does: where pam_limits denies a login, a limit that the host refuses is left out of the file."""
    asked: list[list[dict[str, Any]]] = []
    looked = {"role": "host_tuning", "task": "See", "state": "differs", "why": "granted is ['nofile']", "diff": []}

    def answer(_action: Any, _module: str, options: dict[str, Any], _variables: Any) -> dict[str, Any]:
        asked.append(options["items"])
        looks = any(item["kind"] == "ibready.cluster.limits_look" for item in options["items"])
        return {"told": [{**looked, "looked": {"granted": ["nofile"], "above": []}}] if looks else []}

    monkeypatch.setattr(host_desired, "ask_host", answer)
    node = {"os": {"id": "rocky", "version": "9.4"}, "kernel": "5.14.0-427.el9.x86_64"}
    variables = {**inventory(n1={}), "inventory_hostname": "n1"}
    given = {"roles": [{"name": "host_tuning"}], "node": node}
    done = action(host_desired.ActionModule, variables, given).run(task_vars=variables)
    assert [entry for entry in done["differs"] if entry["state"] == "differs"] == []
    first, second = (
        next(
            file["content"]
            for item in items
            if item["kind"] == "ibready.cluster.written_files"
            for file in item["want"]["files"]
            if file["path"] == "/etc/security/limits.d/90-ibready.conf"
        )
        for items in asked
    )
    assert "* hard memlock unlimited" in first
    assert "* hard memlock" not in second
    assert "* hard nofile" in second
