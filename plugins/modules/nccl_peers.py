#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_peers
short_description: Say where the nodes of the inventory are
version_added: 0.1.0
description:
  - Gives the addresses under which the inventory knows the nodes, C(ibready_address) of a host
    before C(ansible_host) before its name. M(ibready.cluster.nccl_host) asks each host for its way
    to them.
  - Hosts that told that they have no GPU are left out, while others have some.
  - Of very many hosts some stand for all, for routes go by networks.
  - Runs on the controller. Changes nothing.
options:
  hosts:
    description: The hosts' names.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Say where the nodes are
  ibready.cluster.nccl_peers:
    hosts: "{{ groups['all'] }}"
  run_once: true
  delegate_to: localhost
  register: __nccl_peers
"""

RETURN = r"""
peers:
  description: Addresses or names, at most 64.
  type: list
  elements: str
  returned: success
  sample: [10.0.0.11, 10.0.0.12]
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
