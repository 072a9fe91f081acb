# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter expected: what the checks expect of a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils import _expected

DOCUMENTATION = r"""
name: expected
short_description: What the checks expect of a host
version_added: 0.2.0
description:
  - Adds what roles set by the site's word (soft RoCE of role rdma, the settings of role roce) to
    C(ibready_expect), which goes first.
options:
  _input:
    description: The variables of one host.
    type: dict
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Show what is expected of this host
  ansible.builtin.debug:
    msg: "{{ hostvars[inventory_hostname] | ibready.cluster.expected }}"
"""

RETURN = r"""
_value:
  description: Holds what C(ibready_expect) may hold.
  type: dict
"""


def expected(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for it by Ansible's name."""
    return _expected.of(variables)


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"expected": expected}
