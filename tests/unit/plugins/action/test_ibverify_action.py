# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.template import trust_as_template

from ansible_collections.ibready.cluster.plugins.action import ibverify as ibverify_action
from ansible_collections.ibready.cluster.plugins.action.ibverify import ActionModule
from ansible_collections.ibready.cluster.plugins.modules import ibverify as ibverify_module

Verify = Callable[..., dict[str, Any]]

JUDGED = {"verdict": "ready", "changed": False}


@pytest.fixture
def verify(action: Callable[..., ActionBase], monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Run the action; the module that would run on the node hands back what it was given."""

    def node(_: ActionBase, **given: Any) -> dict[str, Any]:
        return {**JUDGED, "given": given}

    monkeypatch.setattr(ActionBase, "_execute_module", node)

    def run(variables: dict[str, Any] | None, **args: Any) -> dict[str, Any]:
        plugin = action(ActionModule, variables or {}, args)
        result: dict[str, Any] = plugin.run(task_vars=variables)
        assert {key: result[key] for key in JUDGED} == JUDGED
        assert result["given"]["module_name"] == "ibready.cluster.ibverify"
        assert result["given"]["task_vars"] == (variables or {})
        module_args: dict[str, Any] = result["given"]["module_args"]
        return module_args

    return run


EXPECT = {"hcas": 8, "rate_gbps": 400}


@pytest.mark.parametrize(
    ("command", "args", "answer"),
    [
        pytest.param({"module_name": "ibverify", "verbosity": 0}, {}, "short", id="a person asks"),
        pytest.param({"module_name": "ibverify", "verbosity": 1}, {}, None, id="and wants to see all"),
        pytest.param({"module_name": "ibverify", "verbosity": 0}, {"answer": "all"}, "all", id="by the option as well"),
        pytest.param({"args": ("site.yml",), "verbosity": 0}, {}, None, id="a playbook asks"),
    ],
)
def test_who_asks_by_hand_gets_what_fits_a_screen(
    verify: Verify, monkeypatch: pytest.MonkeyPatch, command: dict[str, Any], args: dict[str, Any], answer: str | None
) -> None:
    monkeypatch.setattr(context, "CLIARGS", context.CLIArgs(command))
    assert verify({"ibready_expect": EXPECT}, **args).get("answer") == answer


@pytest.mark.parametrize(
    ("variables", "args", "handed_over"),
    [
        pytest.param({"ibready_expect": EXPECT}, {}, {"expect": EXPECT}, id="the inventory is the default"),
        pytest.param(
            {"ibready_expect": trust_as_template("{{ site }}"), "site": EXPECT},
            {"report_only": True},
            {"report_only": True, "expect": EXPECT},
            id="a template is resolved and other arguments stay",
        ),
        pytest.param(
            {"ibready_expect": EXPECT, "ibready_counter_pause": 30},
            {},
            {"expect": EXPECT, "pause": 30},
            id="the site's pause",
        ),
        pytest.param(
            {"ibready_expect": EXPECT, "ibready_counter_pause": 30},
            {"pause": 2},
            {"expect": EXPECT, "pause": 2},
            id="the task's own pause wins",
        ),
        pytest.param(
            {"ibready_expect": EXPECT},
            {"expect": {"hcas": 1}},
            {"expect": {"hcas": 1}},
            id="the task's own expectation wins",
        ),
        pytest.param(
            {"ibready_expect": EXPECT},
            {"expect": {}},
            {"expect": {}},
            id="an empty expectation of the task is one, too",
        ),
        pytest.param(
            {"ibready_expect": EXPECT},
            {"expect": None},
            {"expect": EXPECT},
            id="an omitted one is none",
        ),
        pytest.param({}, {}, {"expect": {}}, id="an inventory that expects nothing"),
        pytest.param({"ibready_expect": None}, {}, {"expect": {}}, id="one of comments alone"),
        pytest.param(None, {}, {"expect": {}}, id="no variables at all"),
    ],
)
def test_the_module_is_given_what_the_inventory_expects(
    verify: Verify,
    variables: dict[str, Any] | None,
    args: dict[str, Any],
    handed_over: dict[str, Any],
) -> None:
    given = verify(variables, **args)
    assert given == {"waivers": [], "host": None, **handed_over}


@pytest.mark.parametrize("expect", [["hcas"], "hcas=8", 8])
def test_an_expectation_that_is_no_dictionary_is_refused_with_the_host(verify: Verify, expect: Any) -> None:
    with pytest.raises(AnsibleActionFail, match=r"ibready_expect of n1 must be a dictionary"):
        verify({"ibready_expect": expect, "inventory_hostname": "n1"})


WAIVER = {"check": "ib.port.rate", "host": "n1", "until": "2026-12-31", "reason": "RMA 1234"}


def test_the_module_is_given_the_waivers_and_the_name_of_the_inventory(verify: Verify) -> None:
    given = verify({"ibready_waivers": [WAIVER], "inventory_hostname": "n1"})
    assert given == {"expect": {}, "waivers": [WAIVER], "host": "n1"}


def test_a_bundle_tells_its_own_name(verify: Verify) -> None:
    given = verify({"inventory_hostname": "localhost"}, bundle="/srv/node7")
    assert given["host"] is None


def test_waivers_that_are_no_list_are_refused_with_the_host(verify: Verify) -> None:
    with pytest.raises(AnsibleActionFail, match=r"ibready_waivers of n1 must be a list"):
        verify({"ibready_waivers": {"check": "x"}, "inventory_hostname": "n1"})


def test_a_waiver_of_no_check_is_refused_before_any_host_is_asked(verify: Verify) -> None:
    """Of another area as well, whose checks the module itself does not know."""
    for check in ("ib.port.stat", "stack.rdma.versoin"):
        with pytest.raises(AnsibleActionFail, match=rf"ibready_waivers of n1: waiver 1: there is no check '{check}'"):
            verify({"ibready_waivers": [{**WAIVER, "check": check}], "inventory_hostname": "n1"})


def test_the_action_knows_what_the_module_brings() -> None:
    assert {area.name for area in ibverify_module.OWN} == ibverify_action._OWN
