#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: firewall_nodes
short_description: Say from which addresses the nodes of the inventory reach each other
version_added: 0.1.0
description:
  - Gives for each host where the inventory reaches it (C(ibready_address) before C(ansible_host)
    before its name), and of the addresses that it has itself those in O(networks).
  - A name is looked up on the controller; where the host told its addresses, those count that are
    its own.
  - Runs on the controller, from facts that were gathered before (C(gather_subset=network)). Changes
    nothing.
options:
  hosts:
    description: The hosts' names.
    type: list
    elements: str
    required: true
  networks:
    description: Networks like V(10.1.0.0/16) that nodes reach each other by.
    type: list
    elements: str
    default: []
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Say where the nodes come from
  ibready.cluster.firewall_nodes:
    hosts: "{{ groups['all'] }}"
    networks: [10.1.0.0/16]
  run_once: true
  delegate_to: localhost
  register: nodes
"""

RETURN = r"""
nodes:
  description:
    - By host, its addresses, and whether it told them itself (C(complete)). This is what
      M(ibready.cluster.firewall_rules) takes.
  type: dict
  returned: success
  sample: {"node1": {"addresses": ["10.1.0.11"], "complete": true}}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
