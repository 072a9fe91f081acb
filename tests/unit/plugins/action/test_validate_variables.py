# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.module_utils.common.collections import ImmutableDict
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.validate_variables import ActionModule
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.defined import TOP, registered
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.variables import playbook_options, role_options
from tests.unit import switch_texts

Inventory = Callable[..., dict[str, Any]]
Action = Callable[..., ActionBase]


def test_good_variables_pass_and_name_the_hosts(inventory: Inventory, action: Action) -> None:
    shared = {"ibready_expect": "{{ site_expect }}", "site_expect": {"hcas": 8}}
    variables = inventory(shared, n1={"rdma_port_type": "keep"}, n2={})
    result = action(ActionModule, variables, {"hosts": ["n1", "n2"]}).run(task_vars=variables)
    assert result == {"changed": False, "hosts": ["n1", "n2"]}


@pytest.mark.parametrize(
    ("shared", "hosts", "said"),
    [
        pytest.param(
            {"ibready_ping_cuont": 9},
            {"n1": {}, "n2": {}},
            r"^n1, n2: ibready_ping_cuont is not a variable of ibready; "
            r"did you mean ibready_ping_count\? Nothing was changed on any host\.$",
            id="one slip that all hosts share is told once",
        ),
        pytest.param(
            {"ibready_expect": "{{ site_expect }}", "site_expect": {"hcas": -1}},
            {"n1": {}},
            r"^n1: ibready_expect\.hcas",
            id="a bad expectation behind another variable",
        ),
        pytest.param(
            {},
            {"n1": {"ibready_ping_count": "many"}, "n2": {"ibready_bogus": 1}},
            r"^n1: .*unable to convert to int.*; n2: ibready_bogus is not",
            id="two hosts with two slips",
        ),
        pytest.param(
            {"ibready_visit_timeout": "0"},
            {"n1": {"ibready_packages_timeout": -1}},
            r"^n1: ibready_visit_timeout has to be 1 at least.*; n1: ibready_packages_timeout has to be 1 at least",
            id="no bound at all",
        ),
        pytest.param(
            {"ibready_visit_timeout": "soon"},
            {"n1": {}},
            r"^n1: .*ibready_visit_timeout.*int",
            id="a bound that is none",
        ),
        pytest.param(
            {"ibready_address": "ipoib", "ipoib_interfaces": [{"port": "mlx5_0/1", "networks": ["10.1.0.0/16"]}]},
            {"n1": {"ipoib_index": 11}, "n2": {}},
            r"^n2: ibready_address is ipoib, and .*set ipoib_index of the host\. Nothing was changed",
            id="a host that IPoIB gives no address to meet at",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_hosts(
    inventory: Inventory,
    action: Action,
    shared: dict[str, Any],
    hosts: dict[str, Any],
    said: str,
) -> None:
    variables = inventory(shared, **hosts)
    plugin = action(ActionModule, variables, {"hosts": list(hosts)})
    with pytest.raises(AnsibleActionFail, match=said):
        plugin.run(task_vars=variables)


def test_a_site_s_own_variables_are_its_own_and_what_looks_like_a_slip_is_told(
    inventory: Inventory, action: Action
) -> None:
    shared = {"firewall_allowed_tcp_ports": [22], "mpi_version": 5, "stack_name": "prod", "repair_alow": ["value"]}
    variables = inventory(shared, n1={}, n2={"rdma_port_typ": "keep"})
    result = action(ActionModule, variables, {"hosts": ["n1", "n2"]}).run(task_vars=variables)
    assert result["warnings"] == [
        f"{hosts}: {name} is not a variable of ibready, and nothing here reads it; did you mean {ours}?"
        for hosts, name, ours in (
            ("n2", "rdma_port_typ", "rdma_port_type"),
            ("n1, n2", "repair_alow", "repair_allow"),
        )
    ]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The playbook that somebody typed."""

    def type_(playbook: str) -> None:
        monkeypatch.setattr(context, "CLIARGS", ImmutableDict({"args": (playbook,)}))

    return type_


def test_a_tag_that_no_play_of_ours_has_is_refused(
    inventory: Inventory, action: Action, typed: Callable[..., None]
) -> None:
    typed(str(TOP / "site.yml"))
    variables = {**inventory(n1={}), "ansible_run_tags": ["nvidia-driver"], "ansible_skip_tags": ["nccl-conf"]}
    plugin = action(ActionModule, variables, {"hosts": ["n1"]})
    with pytest.raises(AnsibleActionFail) as refused:
        plugin.run(task_vars=variables)
    assert str(refused.value).startswith("Nothing was changed on any host: no playbook and no role of ibready has the")
    assert "the tag nvidia-driver; did you mean nvidia_driver_gds, " in str(refused.value)
    assert "the tag nccl-conf; did you mean nccl_conf?" in str(refused.value)


def test_a_site_s_playbook_has_tags_of_its_own_and_what_looks_like_a_slip_is_told(
    inventory: Inventory, action: Action, typed: Callable[..., None]
) -> None:
    typed("/srv/site.yml")
    variables = {**inventory(n1={}), "ansible_run_tags": ["monitoring", "nccl-conf"], "ansible_skip_tags": []}
    result = action(ActionModule, variables, {"hosts": ["n1"]}).run(task_vars=variables)
    assert result["warnings"] == ["no playbook and no role of ibready has the tag nccl-conf; did you mean nccl_conf?"]


def test_files_of_variables_that_nothing_reads_are_told(inventory: Inventory, action: Action, tmp_path: Path) -> None:
    variables = {**inventory(n1={}), "ansible_inventory_sources": [str(tmp_path / "inventory.yml")]}
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars/n-1.yml").write_text("---\n")
    result = action(ActionModule, variables, {"hosts": ["n1"]}).run(task_vars=variables)
    (told,) = result["warnings"]
    assert told.endswith(
        "/host_vars/n-1.yml: this inventory has no host n-1, so nothing reads it; did you mean host_vars/n1.yml?"
    )


def test_what_roles_of_a_cold_run_registered_is_no_slip_of_somebody(inventory: Inventory, action: Action) -> None:
    options = {*playbook_options(), *(name for one in role_options().values() for name in one)}
    variables = inventory({name: {"changed": True} for name in registered() - options}, n1={})
    result = action(ActionModule, variables, {"hosts": ["n1"]}).run(task_vars=variables)
    assert result == {"changed": False, "hosts": ["n1"]}


def test_texts_of_switches_are_looked_at_whichever_host_has_the_variable(
    inventory: Inventory, action: Action, tmp_path: Path
) -> None:
    switch_texts.write(tmp_path / "switches", {"leaf1": switch_texts.sonic(), "leaf2": {"config_db.json": "{"}})
    variables = inventory({}, login={}, n1={"ibready_switch_texts": str(tmp_path / "switches")})
    plugin = action(ActionModule, variables, {"hosts": ["login", "n1"]})
    with pytest.raises(
        AnsibleActionFail, match=r"ibready_switch_texts: leaf2/config_db\.json: line 1 .*\. Nothing was"
    ):
        plugin.run(task_vars=variables)


def test_no_host_is_refused_for_nothing_would_be_proved(inventory: Inventory, action: Action) -> None:
    variables = inventory()
    with pytest.raises(AnsibleActionFail, match="names no host; next: `ansible-inventory"):
        action(ActionModule, variables, {"hosts": []}).run(task_vars=variables)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        pytest.param({}, "missing required arguments: hosts", id="no hosts given"),
        pytest.param({"hosts": ["n1"], "host": "n1"}, "Invalid options .* host", id="misspelt"),
    ],
)
def test_a_wrong_call_is_refused(inventory: Inventory, action: Action, args: dict[str, Any], said: str) -> None:
    variables = inventory(n1={})
    with pytest.raises(AnsibleActionFail, match=said):
        action(ActionModule, variables, args).run(task_vars=variables)


def test_the_options_of_every_role_are_known() -> None:
    assert set(role_options()) >= {"rdma", "host_tuning"}
    assert "rdma_port_type" in role_options()["rdma"]


def test_a_site_s_own_variable_that_cannot_be_told_yet_is_not_looked_at(inventory: Inventory, action: Action) -> None:
    variables = inventory({"nic": "{{ ansible_facts['default_ipv4']['interface'] }}"}, n1={})
    result = action(ActionModule, variables, {"hosts": ["n1"]}).run(task_vars=variables)
    assert result["hosts"] == ["n1"]


def test_a_variable_of_ours_that_cannot_be_told_is_named(inventory: Inventory, action: Action) -> None:
    variables = inventory({"rdma_min_free_mb": "{{ nowhere['to_be'] }}"}, n1={})
    with pytest.raises(AnsibleActionFail, match="n1: rdma_min_free_mb cannot be told"):
        action(ActionModule, variables, {"hosts": ["n1"]}).run(task_vars=variables)
