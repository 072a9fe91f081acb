#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: report_again
short_description: Render a kept run object again, and compare it with an earlier one
version_added: 0.1.0
description:
  - Runs on the controller and touches no host. Reads a run object that M(ibready.cluster.report)
    wrote, shows its table, and writes what O(formats) renders from it beside it.
  - A run object that is damaged, or that another release wrote, is refused with what to do.
options:
  folder:
    description: The folder of the reports on the controller.
    type: path
    required: true
  run:
    description:
      - "The run object: a file, or a number, how many runs back in the folder's history. The last
        run by default."
    type: str
    default: ""
  since:
    description:
      - "What to compare it with: a file, or a number, how many runs before it (V(1): the one
        before). Nothing by default: what it was compared with when it was written stays."
    type: str
    default: ""
  formats:
    description: What the run object is rendered to.
    type: list
    elements: str
    choices: [html, junit, prometheus, markdown]
    default: [html, junit, prometheus, markdown]
  fail_on:
    description: On which verdict to fail, as with M(ibready.cluster.report).
    type: str
    choices: [degraded, not_ready, never]
    default: never
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes what it renders in check mode too; no host is touched.
    support: full
seealso:
  - module: ibready.cluster.report
"""

EXAMPLES = r"""
- name: Say what got better and worse since the run before
  ibready.cluster.report_again:
    folder: reports
    since: 1
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
run: {type: str, returned: success, description: The file of the run object.}
verdicts:
  description: The verdict of every host.
  type: dict
  returned: success
  sample: {"node1": "ready", "node2": "not_ready"}
since:
  description:
    - What got better, worse, or was not looked for again, of every host and fabric that differs.
  type: dict
  returned: success
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
bad: {type: dict, returned: success, description: "What is wrong with each host, by O(fail_on)."}
html: {type: str, returned: when O(formats) has V(html), description: Where the HTML report was written.}
junit: {type: str, returned: when O(formats) has V(junit), description: Where the JUnit XML was written.}
prometheus: {type: str, returned: when O(formats) has V(prometheus), description: Where the metrics were written.}
markdown: {type: str, returned: when O(formats) has V(markdown), description: Where the Markdown summary was written.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
