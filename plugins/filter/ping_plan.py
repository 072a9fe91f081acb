# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter ping_plan: who serves and who asks whom in which round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ibping import DEADLINE
from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts, _ping_plan

DOCUMENTATION = r"""
name: ping_plan
short_description: Plan which host pings which in which round
version_added: 0.1.0
description:
  - Every host asks every other on every rail, in rounds in which no host takes part twice.
  - LIDs come from what M(ibready.cluster.ibverify) found on the hosts.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that take part.
    type: list
    elements: str
    required: true
  deadline:
    description:
      - Seconds that one question may take, from which the servers' lease follows. When it is empty,
        the default of M(ibready.cluster.ibping).
    type: int
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan the pings
  ansible.builtin.set_fact:
    ibready_ping_plan: "{{ hostvars | ibready.cluster.ping_plan(ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description:
    - C(serve) maps hosts to the ports that answer, C(rounds) is a list that maps clients to
      questions as M(ibready.cluster.ibping) takes them, C(lease) is how long servers may live.
  type: dict
"""


def ping_plan(
    hostvars: Mapping[str, Any], hosts: Sequence[str], deadline: int | str = ""
) -> dict[str, Any]:
    """Plan over what the named hosts told; hosts of which nothing is known stay out."""
    seen = _hosts.gather(hostvars, list(hosts))
    taking_part = {host.name: _hosts.participant(host) for host in seen}
    return _ping_plan.plan(taking_part, int(deadline or DEADLINE))


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ping_plan": ping_plan}
