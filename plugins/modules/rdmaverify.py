#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rdmaverify
short_description: Judge what data arrived over RDMA between hosts
version_added: 0.1.0
description:
  - Runs on the controller, after C(playbooks/tasks/rdma.yml) has moved data between the hosts by
    M(ibready.cluster.rdma_data), and shows a table.
  - Judges C(fabric.rdma.*) and C(container.rdma.*) of docs/checks.md alone;
    M(ibready.cluster.report) judges them with all else.
  - What was not tried is C(unknown), and C(unknown) is never a pass. A host without a rail of the
    kind that C(ibready_rdma) names is skipped.
  - Fails when a host is neither C(ready) nor C(degraded), unless O(report_only=true).
options:
  hosts:
    description: The names of the hosts that the run was for, reached or not.
    type: list
    elements: str
    required: true
  dest:
    description: A folder of the controller for C(ibready-rdma.json), which has every test as well;
      without it none is written.
    type: path
  report_only:
    description: Return the same result without failing.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.no_diff]
attributes:
  check_mode:
    description: Judges in check mode too; no host is touched.
    support: full
"""

EXAMPLES = r"""
- name: Judge what arrived
  ibready.cluster.rdmaverify:
    hosts: "{{ ansible_play_hosts_all }}"
"""

RETURN = r"""
verdicts:
  description: The verdict of every host, V(ready), V(degraded), V(unknown) or V(not_ready).
  type: dict
  returned: always
  sample: {"node1": "ready", "node2": "not_ready"}
checks: {type: dict, returned: always, description: Every check of every host; docs/checks.md explains each id.}
bad:
  description: What is wrong with each host that is neither C(ready) nor C(degraded).
  type: dict
  returned: always
  sample: {"node2": "node2 is not_ready: fabric.rdma.verbs rxe0/1: failed in 1 of 1 pairs"}
json: {type: str, returned: with O(dest), description: Where the report was written.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
