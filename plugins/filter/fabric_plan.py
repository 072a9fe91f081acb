# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter fabric_plan: which host asks which fabric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import ask, gather

DOCUMENTATION = r"""
name: fabric_plan
short_description: Plan which host asks which InfiniBand fabric
version_added: 0.1.0
description:
  - Every fabric is asked once, by as few hosts as can be.
  - Fabrics are told apart by the subnet manager that M(ibready.cluster.ibverify) found on each
    port.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that may ask.
    type: list
    elements: str
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan who asks
  ansible.builtin.set_fact:
    ibready_fabric_asks: "{{ hostvars | ibready.cluster.fabric_plan(ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description: Host names to ports, as M(ibready.cluster.fabric_look) takes them.
  type: dict
"""


def fabric_plan(
    hostvars: Mapping[str, Any], hosts: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Plan over what the named hosts told; hosts of which nothing is known do not ask."""
    seen = {one.name: gather.ports_of(one) for one in _hosts.gather(hostvars, list(hosts))}
    return {
        host: [{"device": device, "port": port} for device, port in ports]
        for host, ports in ask.askers(seen).items()
    }


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"fabric_plan": fabric_plan}
