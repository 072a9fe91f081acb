# SPDX-License-Identifier: GPL-3.0-or-later
"""No answer of a node is a variable of the controller."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import hostverify, node_facts
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import trust, variables as _variables

ROOT = Path(__file__).parents[4]
PACKAGE = "ansible_collections.ibready.cluster.plugins.action"
ACTIONS = sorted(path.stem for path in (ROOT / "plugins/action").glob("*.py"))
# They run nothing and write nothing on the controller; of a node's word they judge that node.
HARMLESS = {
    *("ibverify", "hostverify", "nvlinkverify", "stackverify", "ncclverify", "containerverify", "nccl_host", "collect"),
    *("fabricverify", "rdmaverify", "node_facts", "node_program"),
    *("ibping", "rdma_data", "run_lease"),  # These tell the node who asks.
}
EVIL = {"ibready_drain": [["sh", "-c", "id"]], "report_fail_on": "never"}

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]


@pytest.mark.parametrize("name", [name for name in ACTIONS if name not in HARMLESS])
def test_what_acts_on_the_controller_refuses_variables_of_nodes(
    name: str, inventory: Inventory, action: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "INJECT_FACTS_AS_VARS", True)
    kind = importlib.import_module(f"{PACKAGE}.{name}").ActionModule
    with pytest.raises(AnsibleActionFail, match=r"inject_facts_as_vars is on.*Next: set inject"):
        action(kind, inventory(n1={}), {}).run(task_vars=inventory(n1={}))


def test_the_checkout_has_it_off() -> None:
    assert constants.config.get_config_value("INJECT_FACTS_AS_VARS", str(ROOT / "ansible.cfg")) in (
        False,
        "False",
    )


def test_what_is_harmless_exists() -> None:
    assert set(ACTIONS) >= HARMLESS


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        pytest.param(None, "", id="none"),
        pytest.param({}, "", id="empty"),
        pytest.param({"distribution": "Ubuntu", "rdma_0": {"device": "rdma-0"}}, "", id="honest"),
        pytest.param({"ibready_drain": []}, "(ibready_drain)", id="a variable of a playbook"),
        pytest.param({"ibready_anything": 1}, "(ibready_anything)", id="whatever begins like ours"),
        pytest.param({"rdma_port_type": 1}, "(rdma_port_type)", id="a variable of a role"),
        pytest.param({"report_fail_on": 1}, "(report_fail_on)", id="how the run ends"),
        pytest.param({f"ibready_{n}": 1 for n in range(9)}, "ibready_3 and 5 more)", id="many"),
        pytest.param({"ibready_\x1b[2J": 1}, "(ibready_?[2J)", id="moves no cursor"),
        pytest.param([1], "no table of facts", id="no facts at all"),
    ],
)
def test_facts_with_names_of_ours_are_told(facts: object, said: str) -> None:
    found = trust.why_not(facts)
    assert said in found
    assert bool(found) is bool(said)


def test_every_variable_of_ours_is_known_as_such() -> None:
    names = {*_variables.playbook_options()}
    names |= {name for options in _variables.role_options().values() for name in options}
    assert [name for name in names if not _variables.is_ours(name)] == []


@pytest.mark.parametrize("first", [node_facts, hostverify])
@pytest.mark.parametrize("facts", [{}, {"discovered_interpreter_python": "/usr/bin/python3"}, EVIL])
def test_a_host_that_sends_our_variables_is_refused_at_its_first_word(
    facts: dict[str, Any],
    first: Any,
    inventory: Inventory,
    action: Action,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = (
        {"node": {"hostname": "n1"}}
        if first is node_facts
        else {"verdict": "ready", "checks": [], "facts": {}, "packed": ""}
    )
    answer = {"changed": False, **told, "ansible_facts": facts}
    monkeypatch.setattr(ActionBase, "_execute_module", lambda *_, **__: dict(answer))
    variables = inventory(n1={})
    args = {"group": "asked"} if first is node_facts else {}
    reported = action(first.ActionModule, variables, args).run(task_vars=variables)
    # Of whom nobody knows anything, nobody makes a host of the run.
    assert reported.get("add_group") == (None if facts is EVIL or first is hostverify else "asked")
    assert told.keys() & reported.keys() == (set() if facts is EVIL else set(told))
    assert bool(reported.get("failed")) is (facts is EVIL)
    if facts is EVIL:
        assert "ibready_drain, report_fail_on" in reported["msg"]
        assert "Next: " in reported["msg"]
