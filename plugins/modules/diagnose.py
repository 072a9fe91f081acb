#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: diagnose
short_description: Say why several nodes are slower than one, with ranked causes
version_added: 0.1.0
description:
  - Runs on the controller, over what the playbooks gathered of live hosts, or over bundles.
  - Adds to the judgements of M(ibready.cluster.ibverify) and of the pings what equal hosts should
    have alike, and what a job's log of NCCL says.
  - Folds failures that follow from another into that one, and ranks what is left by how much of
    the bandwidth between nodes it costs. Each cause comes with its evidence and one command, which
    is shown and never run.
  - What could not be looked at is told apart, and never taken for healthy.
  - Writes C(ibready-diagnosis.json), replaced as a whole.
  - A diagnosis that was made is a success, whatever it says. It fails where no host at all could be
    looked at.
options:
  hosts:
    description:
      - The names of the hosts that the run was for, reached or not.
      - Exactly one of O(hosts) and O(bundles) is needed.
    type: list
    elements: str
  bundles:
    description:
      - A folder on the controller with bundles as C(playbooks/collect.yml) leaves them, C(HOST) or
        C(HOST.tar.gz); or one bundle. No host is touched.
      - What is expected of a bundle's host, and what is waived, is taken from the inventory where
        that has a host of this name, and is O(expect) else.
    type: path
  expect:
    description:
      - What is expected of bundles whose hosts are not in the inventory, as C(ibready_expect).
    type: dict
  log:
    description: The log of a job on these hosts (C(NCCL_DEBUG=INFO)), a file on the controller.
    type: path
  dest:
    description: The folder of the diagnosis on the controller.
    type: path
    required: true
  most:
    description: How many causes are shown in full. All of them are in the file.
    type: int
    default: 10
attributes:
  check_mode:
    description: Writes the diagnosis in check mode too; no host is touched.
    support: full
  diff_mode:
    description: Has nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
"""

EXAMPLES = r"""
- name: Say why several nodes are slower than one
  ibready.cluster.diagnose:
    hosts: "{{ query('ansible.builtin.inventory_hostnames', 'all') }}"
    dest: reports

- name: The same of bundles, with a job's log
  ibready.cluster.diagnose:
    bundles: bundles
    log: job.log
    dest: reports
"""

RETURN = r"""
answer:
  description: The diagnosis in a sentence.
  type: str
  returned: always
  sample: "1 cause, the likeliest reason first (3 of 3 hosts looked at, 731 checks passed)"
causes:
  description: The causes, the likeliest reason first.
  type: list
  elements: dict
  returned: always
  contains:
    rank:
      description: 1 is the likeliest reason.
      type: int
    id:
      description: The cause's row of the table; docs/diagnose.md.
      type: str
      sample: rail.slow
    title:
      description: The cause in words.
      type: str
    hosts:
      description: The hosts that have it.
      type: list
      elements: str
    subjects:
      description: What of them it is about.
      type: list
      elements: str
    effect:
      description: What it does to a job, in a word.
      type: str
    costs:
      description: The same in words.
      type: str
    loss:
      description: The share of the bandwidth between nodes that is gone, 0 to 1.
      type: float
    computed:
      description: Whether that follows from the evidence, and is not the usual share.
      type: bool
    evidence:
      description: The checks that show it.
      type: list
      elements: dict
    explains:
      description: Failures of other checks that follow from it.
      type: list
      elements: dict
    hides:
      description: Checks that could not be made because of it.
      type: list
      elements: dict
    command:
      description: The one command for it, to be run by a person; empty where there is none.
      type: str
      sample: ansible node7 -i inventories/mine -b -a 'mlxlink -d mlx5_3 --port_state TG'
    mends:
      description: Whether the command mends it, and does not only show more.
      type: bool
    note:
      description: What to know before, or what hands have to do.
      type: str
    confidence:
      description: V(sure), V(likely) or V(possible).
      type: str
    source:
      description: Where the knowledge of this cause is from.
      type: str
unknown:
  description: What could not be looked at and no cause explains, with the reason and the next step.
  type: list
  elements: dict
  returned: always
waived:
  description: Failures that the site accepts until a day.
  type: list
  elements: dict
  returned: always
simulated:
  description: What of the hosts is simulated, empty where nothing is.
  type: str
  returned: always
json:
  description: Where the diagnosis was written.
  type: str
  returned: always
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
