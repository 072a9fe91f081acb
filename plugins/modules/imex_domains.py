#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: imex_domains
short_description: Say which hosts of a rack share GPU memory by IMEX
version_added: 0.1.0
description:
  - Gives for each host the addresses of all hosts of its IMEX domain, as nodes_config.cfg has to have
    them on every one of these in the same order.
  - What C(nvidia_driver_imex_nodes) of a host lists goes first, then the hosts with the same
    C(nvidia_driver_imex_domain), then those whose GPUs told M(ibready.cluster.node_facts) of the same
    NVLink cluster and clique. A list of which a host may be missing is not given.
  - An address is C(ibready_address) of a host before C(ansible_host) before its name, which is looked
    up on the controller.
  - Runs on the controller. Changes nothing.
options:
  hosts:
    description: The hosts' names, all of the inventory.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Say which hosts share memory
  ibready.cluster.imex_domains:
    hosts: "{{ groups['all'] }}"
  run_once: true
  delegate_to: localhost
  register: __nvidia_driver_domains
"""

RETURN = r"""
domains:
  description: The domain of each host that is in one, or may be.
  type: dict
  returned: success
  sample: {"tray1": {"nodes": ["10.0.0.11", "10.0.0.12"], "why": ""}}
  contains:
    nodes:
      description: The addresses.
      type: list
      elements: str
    why:
      description: Why there are none.
      type: str
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
