#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Judge the whole cluster, show the verdict table, write the report
version_added: 0.1.0
description:
  - Runs on the controller, after the playbooks have gathered what the hosts told.
  - Adds the judgements that no single host can make, consistency across hosts and who reached whom,
    to those of M(ibready.cluster.ibverify).
  - Shows a table and writes C(ibready-report.json) and C(ibready-report.html), each replaced as a
    whole.
  - Fails when a host is neither C(ready) nor C(degraded), unless O(report_only=true), and always
    when there is no host at all.
options:
  hosts:
    description: The names of the hosts that the run was for, reached or not.
    type: list
    elements: str
    required: true
  dest:
    description: The folder of the report on the controller.
    type: path
    required: true
  report_only:
    description: Return the same result without failing on a host that is not ready.
    type: bool
    default: false
attributes:
  check_mode:
    description: Writes the report in check mode too; no host is touched.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Judge the cluster
  ibready.cluster.report:
    hosts: "{{ query('ansible.builtin.inventory_hostnames', 'all') }}"
    dest: reports
"""

RETURN = r"""
verdicts:
  description: The verdict of every host.
  type: dict
  returned: always
  sample: {"node1": "ready", "node2": "not_ready"}
bad:
  description: What is wrong with each host that is neither C(ready) nor C(degraded).
  type: dict
  returned: always
  sample: {"node2": "node2 is not_ready: ib.port.state mlx5_1/1: Down, expected Active"}
json:
  description: Where the JSON report was written.
  type: str
  returned: always
html:
  description: Where the HTML report was written.
  type: str
  returned: always
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
