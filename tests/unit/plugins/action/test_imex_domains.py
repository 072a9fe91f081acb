# SPDX-License-Identifier: GPL-3.0-or-later
"""The domains of a rack as Ansible's own variables of hosts have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import imex_domains

Inventory = Callable[..., dict[str, Any]]


def domains(variables: dict[str, Any]) -> Any:
    return imex_domains(variables["hostvars"], variables["groups"]["all"])


def test_a_name_of_the_inventory_may_be_a_template(inventory: Inventory) -> None:
    found = domains(
        inventory(
            {"nvidia_driver_imex_domain": "rack{{ rack }}", "ibready_address": "10.0.{{ rack }}.{{ slot }}"},
            a={"rack": 1, "slot": 1},
            b={"rack": 2, "slot": 1},
            c={"rack": 1, "slot": 2},
        ),
    )
    assert found["a"] == found["c"] == {"nodes": ["10.0.1.1", "10.0.1.2"], "why": ""}
    assert found["b"]["nodes"] == ["10.0.2.1"]


def test_hosts_without_a_rack_are_in_none(inventory: Inventory) -> None:
    hosts = {name: {"ibready_node": {"node": {"gpus": [], "nvlink_domain": ""}}} for name in ("a", "b")}
    assert domains(inventory(**hosts)) == {}


def test_what_nodes_told_makes_the_domain(inventory: Inventory) -> None:
    told = {"ibready_node": {"node": {"nvlink_domain": "ac9b1b1e-2f80-4c1b-9f4e-000000000001.1"}}}
    found = domains(inventory(a={**told, "ansible_host": "10.0.0.1"}, b={**told, "ansible_host": "10.0.0.2"}))
    assert found["a"]["nodes"] == found["b"]["nodes"] == ["10.0.0.1", "10.0.0.2"]
