# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter rdma_part: what one host does in one round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._rdma import plan

DOCUMENTATION = r"""
name: rdma_part
short_description: What one host does in one round of moving data over RDMA
version_added: 0.2.0
description:
  - Takes one host's part out of what P(ibready.cluster.rdma_plan#filter) made.
options:
  _input:
    description: The plan.
    type: dict
    required: true
  host:
    description: The host's name.
    type: str
    required: true
  number:
    description: The round, from 0 on.
    type: int
    required: true
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Wait for who sends data to this host
  ibready.cluster.rdma_data:
    state: serving
    ends: "{{ (ibready_rdma_plan | ibready.cluster.rdma_part(inventory_hostname, 0)).ends }}"
"""

RETURN = r"""
_value:
  description:
    - C(ends) or C(questions), and C(container), as M(ibready.cluster.rdma_data) takes them; both
      lists are empty where the host sits out.
    - C(server) is who answers the questions.
  type: dict
"""


def rdma_part(made: Mapping[str, Any], host: str, number: int | str) -> dict[str, Any]:
    """One host's part of one round."""
    return plan.part(made, host, int(number))


class FilterModule:
    """Offer the filter to Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"rdma_part": rdma_part}
