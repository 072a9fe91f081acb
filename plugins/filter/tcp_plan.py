# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter tcp_plan: who connects to whom, on which ports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import _tcp_plan, _tcp_told

DOCUMENTATION = r"""
name: tcp_plan
short_description: Plan which host connects to which on the ports of jobs
version_added: 0.2.0
description:
  - Every host connects to at most three others, and is connected to by as many - its neighbours in
    the order of addresses, and the host half way round.
  - The ports are those on which M(ibready.cluster.tcp_listen) listens on the hosts.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that take part; those without a listener stay out.
    type: list
    elements: str
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan who asks whom
  ansible.builtin.set_fact:
    ibready_tcp_plan: "{{ hostvars | ibready.cluster.tcp_plan(ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description: Maps hosts to their peers, as M(ibready.cluster.tcp_reach) takes them.
  type: dict
"""


def tcp_plan(hostvars: Mapping[str, Any], hosts: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Plan over what the named hosts told."""
    return _tcp_plan.plan({name: _tcp_told.told(name, hostvars[name]) for name in hosts})


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"tcp_plan": tcp_plan}
