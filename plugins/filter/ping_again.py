# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter ping_again: who is asked a second time, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping import again, told
from ansible_collections.ibready.cluster.plugins.plugin_utils._ping.walk import questions

DOCUMENTATION = r"""
name: ping_again
short_description: Plan who pings known-good partners once more
version_added: 0.2.0
description:
  - Hosts at whose door lost pings are laid ask up to four others that lost none, two of their own
    leaf switch and two of others where that is known.
options:
  _input:
    description: The variable C(hostvars), with what the hosts answered in C(ibready_pings).
    type: dict
    required: true
  plan:
    description: The plan by which they were asked, of P(ibready.cluster.ping_plan#filter).
    type: dict
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Find those that lost pings
  ansible.builtin.set_fact:
    ibready_ping_again: "{{ hostvars | ibready.cluster.ping_again(ibready_ping_plan) }}"
"""

RETURN = r"""
_value:
  description: Maps clients to questions as M(ibready.cluster.ibping) takes them.
  type: dict
"""


def ping_again(hostvars: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Questions of the second pass; nothing where nothing was lost."""
    pings = [
        told.ping(name, answer)
        for name in plan["hosts"]
        for answer in _hosts.variables(hostvars, name).get("ibready_pings") or []
    ]
    leaves = {(host, rail): leaf for host, rail, leaf in plan["leaves"]}
    asked = again.again(plan, pings, leaves)
    return {client: questions(plan, client, mine) for client, mine in asked.items()}


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ping_again": ping_again}
