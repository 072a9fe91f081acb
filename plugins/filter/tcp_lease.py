# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter tcp_lease: how long a listener may live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import _tcp_plan

DOCUMENTATION = r"""
name: tcp_lease
short_description: Tell how long the listeners of a run may be needed at most
version_added: 0.2.0
description: As long as listening and asking can take on so many hosts, at the slowest.
options:
  _input:
    description: The names of the hosts that take part.
    type: list
    elements: str
    required: true
  forks:
    description: How many of them Ansible works on at a time.
    type: int
    required: true
  timeout:
    description: Seconds to wait for each connection.
    type: float
    default: 3
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Listen for as long as it can take
  ibready.cluster.tcp_listen:
    state: listening
    name: "{{ inventory_hostname }}"
    token: 0123456789abcdef0123456789abcdef
    lease: "{{ ansible_play_hosts | ibready.cluster.tcp_lease(ansible_forks) }}"
"""

RETURN = r"""
_value:
  description: Seconds.
  type: int
"""


def tcp_lease(hosts: Sequence[str], forks: int | str, timeout: float | str = 3) -> int:
    """The lease of every listener of a run."""
    return _tcp_plan.lease(len(hosts), int(forks), float(timeout))


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"tcp_lease": tcp_lease}
