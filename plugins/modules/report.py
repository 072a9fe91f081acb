#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: report
short_description: Judge the whole cluster, or take a kept run, show the verdict table, write the report
version_added: 0.1.0
description:
  - Runs on the controller, after the playbooks have gathered what the hosts told.
  - Adds the judgements that no single host can make, consistency across hosts and who reached whom,
    to those of M(ibready.cluster.ibverify).
  - Shows a table and writes the run object, C(ibready-report.json), and what O(formats) renders
    from it, each file replaced as a whole. C(docs/run.md) tells what a run object holds.
  - With O(run) it takes a run object that it wrote before in place of hosts, shows its table, and
    writes what O(formats) renders from it beside it. One that is damaged, or that another release
    wrote, is refused with what to do.
  - With C(--limit) the files are called C(ibready-report-limited), without metrics, and those of
    the whole cluster and its history stay as they were.
  - Fails by O(fail_on), unless O(report_only=true), and always when there is no host at all.
options:
  hosts:
    description: The names of the hosts that the run was for, reached or not. Either these or O(run).
    type: list
    elements: str
  run:
    description:
      - "A run object: a file, or a number, how many runs back in the folder's history; the last run
        where it is empty."
    type: str
  since:
    description:
      - "What to compare O(run) with: a file, or a number, how many runs before it (V(1): the one
        before). Nothing where it is empty: what it was compared with when it was written stays."
    type: str
  dest:
    description: The folder of the reports on the controller.
    type: path
    required: true
  report_only:
    description: Return the same result without failing on a host that is not ready.
    type: bool
    default: false
  fail_on:
    description:
      - V(not_ready) fails when a host or a fabric is C(not_ready) or C(unknown), V(degraded) when
        one is anything but C(ready), V(never) for no verdict.
    type: str
    choices: [degraded, not_ready, never]
    default: not_ready
  formats:
    description: What the run object is rendered to, beside it.
    type: list
    elements: str
    choices: [html, junit, prometheus, markdown]
    default: [html, junit, prometheus, markdown]
  keep:
    description:
      - How many run objects are kept, gzipped, in the folder C(history) of O(dest), this one
        included. The oldest are removed.
    type: int
    default: 10
  cluster:
    description: What the report calls the cluster. By default the folder or file of the inventory.
    type: str
    default: ""
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes the report in check mode too; no host is touched.
    support: full
"""

EXAMPLES = r"""
- name: Judge the cluster
  ibready.cluster.report:
    hosts: "{{ query('ansible.builtin.inventory_hostnames', 'all') }}"
    dest: reports

- name: Say what got better and worse since the run before
  ibready.cluster.report:
    run: ""
    since: 1
    dest: reports
"""

RETURN = r"""
verdicts:
  description: The verdict of every host.
  type: dict
  returned: always
  sample: {"node1": "ready", "node2": "not_ready"}
bad:
  description: By which checks each host, or the fabric that it asked, is not as O(fail_on) wants it.
  type: dict
  returned: always
  sample: {"node2": "node2 is not_ready: ib.port.state mlx5_1/1. The table above tells why, and what next."}
json: {type: str, returned: always, description: The file of the run object.}
since:
  description:
    - What got better, worse, or was not looked for again, of every host and fabric that differs.
  type: dict
  returned: with O(run)
  sample:
    created: "2026-11-21T10:00:00+00:00"
    error: ""
    hosts:
      node2:
        before: ready
        now: not_ready
        better: []
        worse: [{id: ib.port.state, subject: mlx5_1/1, before: pass, now: fail}]
        gone: []
html: {type: str, returned: when O(formats) has V(html), description: Where the HTML report was written.}
junit: {type: str, returned: when O(formats) has V(junit), description: Where the JUnit XML was written.}
prometheus:
  description: Where the metrics for node_exporter's textfile collector were written.
  type: str
  returned: when O(formats) has V(prometheus), and C(--limit) leaves no host out
markdown: {type: str, returned: when O(formats) has V(markdown), description: Where the Markdown summary was written.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
