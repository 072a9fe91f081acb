#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: bench_report
short_description: Judge what a run of benchmarks measured, and compare it with the baseline
version_added: 0.1.0
description:
  - Runs on the controller, after C(playbooks/bench.yml) has gathered what the hosts told.
  - Holds every number against a published floor or the site's own, against what equal hosts reached
    in the same run, and against the baseline.
  - Shows a table and writes C(bench.json). Where there is no baseline of what was measured and
    nothing failed, this run becomes it.
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
  what:
    description: What was to be measured.
    type: list
    elements: str
    choices: [perftest, nccl, mpi]
    default: [perftest, nccl, mpi]
  tests:
    description: Which tests of perftest.
    type: list
    elements: str
    choices: [write_bw, write_bw_gpu, read_lat, send_lat]
    default: [write_bw, write_bw_gpu, read_lat, send_lat]
  floors:
    description:
      - The site's own floors, in place of the published ones - C(bandwidth_gbps) and C(latency_us)
        of every rail, C(nccl_node_gbps) of one host, C(nccl_nodes_gbps) of several.
    type: dict
    default: {}
  baseline:
    description: The baseline's file. C(bench.baseline.json) beside the inventory where it is empty.
    type: str
    default: ""
  rebase:
    description: Make this run the baseline, whatever there is; not where an error was found.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes nothing in check mode.
    support: full
"""

EXAMPLES = r"""
- name: Judge what was measured
  ibready.cluster.bench_report:
    hosts: "{{ query('ansible.builtin.inventory_hostnames', 'all') }}"
    dest: reports
    floors:
      nccl_nodes_gbps: 350
"""

RETURN = r"""
verdicts:
  description: The verdict of every host, of what was measured alone.
  type: dict
  returned: always
  sample: {"node1": "ready", "node2": "not_ready"}
bad: {type: dict, returned: always, description: What is wrong with each host that is neither C(ready) nor C(degraded).}
json: {type: str, returned: always, description: The path of the report.}
baseline: {type: str, returned: always, description: The path of the baseline.}
baseline_written:
  description: Of what this run became the baseline.
  type: list
  elements: str
  returned: always
  sample: [mpi, perftest]
"""
