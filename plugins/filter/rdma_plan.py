# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter rdma_plan: who moves data to whom in which round."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import plan

DOCUMENTATION = r"""
name: rdma_plan
short_description: Plan which host moves data to which over RDMA
version_added: 0.2.0
description:
  - Every host meets a few others on every rail that both have, in rounds in which it either serves
    or asks. Two hosts alone meet both ways.
  - Rails, GID indexes and MTUs come from what M(ibready.cluster.ibverify) found on the hosts, and
    from C(ibready_rdma), C(ibready_rdma_containers) and C(ibready_expect) of each.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  hosts:
    description: The names of the hosts that take part; those without a rail stay out.
    type: list
    elements: str
    required: true
  partners:
    description: How many others each host meets. An empty text stands for 2.
    type: int
    default: 2
  port:
    description: The first port at which two ends meet. An empty text stands for 18700.
    type: int
    default: 18700
  forks:
    description: On how many hosts Ansible works at a time.
    type: int
    default: 5
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Plan who moves data to whom
  ansible.builtin.set_fact:
    ibready_rdma_plan: "{{ hostvars | ibready.cluster.rdma_plan(ansible_play_hosts) }}"
"""

RETURN = r"""
_value:
  description:
    - C(rounds), each of which maps clients to servers; none where fewer than two hosts have a rail.
    - C(hosts), those that take part; C(lease), how long a server may be needed, in seconds.
    - P(ibready.cluster.rdma_part#filter) makes each host's part of it.
  type: dict
"""


def rdma_plan(
    hostvars: Mapping[str, Any],
    hosts: Sequence[str],
    partners: int | str = "",
    port: int | str = "",
    forks: int | str = 5,
) -> dict[str, Any]:
    """Plan over what the named hosts told; hosts of which nothing is known stay out."""
    wish = plan.Wish(
        partners=_number("ibready_rdma_partners", partners, plan.PARTNERS, 1, 64),
        port=_number("ibready_rdma_port", port, plan.PORT, 1024, 65000),
        forks=_number("forks", forks, 5, 1, 10_000),
        run=uuid.uuid4().hex,
    )
    told = {one.name: one.rdma for one in _hosts.gather(hostvars, list(hosts))}
    return plan.plan({name: one for name, one in told.items() if one is not None}, wish)


def _number(name: str, value: int | str, default: int, least: int, most: int) -> int:
    if value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise AnsibleFilterError(f"{name} must be from {least} to {most}, not {value!r}")
    return number


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"rdma_plan": rdma_plan}
