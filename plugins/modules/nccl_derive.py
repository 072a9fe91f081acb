#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nccl_derive
short_description: Derive the nccl.conf of every host from what all of them told
version_added: 0.1.0
description:
  - Takes what M(ibready.cluster.nccl_host) registered as C(__nccl_host) and gives the lines
    for M(ibready.cluster.nccl_conf), each with its reason. docs/nccl-conf.md tells how.
  - A line that is needed and cannot be derived is told with the reason, and as a warning, and left
    out.
  - Runs on the controller. Changes nothing.
options:
  hosts:
    description: The hosts whose lines are wanted. One that told nothing has no part in the answer.
    type: list
    elements: str
    required: true
  compare:
    description:
      - More hosts that what has to be the same on all nodes of a RoCE fabric is compared with.
        While one of them told nothing, a line about it is neither begun nor taken back.
    type: list
    elements: str
    default: []
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Look at the host
  ibready.cluster.nccl_host:
  register: __nccl_host

- name: Derive the lines of all hosts
  ibready.cluster.nccl_derive:
    hosts: "{{ ansible_play_batch }}"
  run_once: true
  delegate_to: localhost
  register: derived

- name: Write them
  ibready.cluster.nccl_conf:
    settings: "{{ derived.hosts[inventory_hostname].settings }}"
    keep: "{{ derived.hosts[inventory_hostname].keep }}"
"""

RETURN = r"""
hosts:
  description: The answer for each host, by name.
  type: dict
  returned: success
  sample:
    node1:
      settings:
        - {name: NCCL_IB_HCA, value: "=mlx5_0,mlx5_1", reason: "2 InfiniBand rails"}
      keep: []
      untold: []
      left_out:
        - {port: mlx5_2/1, why: "its model can never do the rate of the others", confidence: medium}
      remarks: []
absent:
  description: Hosts that told nothing, or nothing that can be used.
  type: list
  elements: str
  returned: success
refused:
  description: Why nothing can be derived of what a host told, by host.
  type: dict
  returned: success
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
