#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
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
        that has a host of this name, and is O(expect) else. Where both say nothing, what was expected
        is what the bundle carries.
    type: path
  expect:
    description:
      - What is expected of bundles whose hosts are not in the inventory, as C(ibready_expect).
    type: dict
  log:
    description: The log of a job on these hosts (C(NCCL_DEBUG=INFO)), a file on the controller.
    type: path
  times:
    description:
      - What a job left of its times, files on the controller - logs of Megatron-LM, DeepSpeed and others, traces, what
        recorders wrote, a table of steps (docs/slow.md). It is judged in the words of C(ibready why).
    type: list
    elements: path
    default: []
  dest:
    description: The folder of the diagnosis on the controller.
    type: path
    required: true
  most:
    description: How many causes are shown in full. All of them are in the file.
    type: int
    default: 10
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Writes the diagnosis in check mode too; no host is touched.
    support: full
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
  sample: "1 cause, the likeliest first (3 of 3 hosts checked, 731 checks passed)"
causes:
  description: The causes, the likeliest reason first.
  type: list
  elements: dict
  returned: always
  contains:
    rank: {type: int, description: 1 is the likeliest reason.}
    id: {type: str, sample: rail.slow, description: The cause's row of the table; docs/diagnose.md.}
    title: {type: str, description: The cause in words.}
    hosts: {type: list, elements: str, description: The hosts that have it.}
    subjects: {type: list, elements: str, description: What of them it is about.}
    effect: {type: str, description: "What it does to a job, in a word."}
    costs: {type: str, description: The same in words.}
    loss: {type: float, description: "The share of the bandwidth between nodes that is gone, 0 to 1."}
    computed: {type: bool, description: "Whether that follows from the evidence, and is not the usual share."}
    evidence: {type: list, elements: dict, description: The checks that show it.}
    explains: {type: list, elements: dict, description: Failures of other checks that follow from it.}
    hides: {type: list, elements: dict, description: Checks that could not be made because of it.}
    command:
      description: The one command for it, to be run by a person; empty where there is none.
      type: str
      sample: ansible node7 -i inventories/mine -b -a 'mlxlink -d mlx5_3 --port_state TG'
    mends: {type: bool, description: "Whether the command fixes it, and does not only show more."}
    note: {type: str, description: "What to know before, or what hands have to do."}
    confidence: {type: str, description: "V(sure), V(likely) or V(possible)."}
    source: {type: str, description: Where the knowledge of this cause is from.}
    acts:
      description:
        - What fixes it, host by host, each with C(host), C(kind), C(words) (none for a converge),
          C(consents) and C(choices); empty where only hands can.
      type: list
      elements: dict
places:
  description:
    - Of each host the leaf switches that it hangs on (C(leaves)), whether the subnet manager is on it
      (C(manager)), and where its cables lead (C(cables)).
  type: dict
  returned: always
unknown:
  description:
    - What could not be looked at and no cause explains, with the reason and the next step.
    - C(words_of) is the host in whose words these are, where others say the same of themselves, else empty.
  type: list
  elements: dict
  returned: always
looked: {type: list, elements: str, returned: always, description: The hosts of which anything at all could be told.}
waived: {type: list, elements: dict, returned: always, description: Failures that the site accepts until a day.}
simulated: {type: str, returned: always, description: "What of the hosts is simulated, empty where nothing is."}
json: {type: str, returned: always, description: Where the diagnosis was written.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
