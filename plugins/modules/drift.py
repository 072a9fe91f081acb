#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: drift
short_description: Say what differs on which host from what is wanted of it
version_added: 0.1.0
description:
  - Shows what M(ibready.cluster.host_desired) told of every host, equal things of several hosts
    once, and writes it to C(ibready-drift.json).
  - Runs on the controller. Changes nothing.
options:
  hosts:
    description: The hosts' names.
    type: list
    elements: str
    required: true
  dest:
    description: The folder for the file; it is made where there is none.
    type: path
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Say what differs on which host
  ibready.cluster.drift:
    hosts: "{{ ansible_play_hosts_all }}"
    dest: reports
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
hosts:
  description: Of each host that was compared what differs, as RV(ibready.cluster.host_desired#module:differs) has it.
  type: dict
  returned: success
  sample: {"node1": []}
uncompared: {type: dict, returned: success, description: "Of each other host, why it was not compared."}
json: {type: str, returned: success, description: The file.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
