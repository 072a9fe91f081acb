#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cordon
short_description: Keep Kubernetes' pods off nodes that a verify calls not ready, and give them back
version_added: 0.1.0
description:
  - Reads the run object that M(ibready.cluster.report) wrote and the cluster's nodes, and says which of the
    nodes are to take no pods, and which are good again. What O(allow) names is done, within O(most).
  - A node is taken out where its host is C(not_ready). One of which nobody could tell stays as it is.
  - What was done to a node is remembered on it (annotation C(ibready.io/cordon)), and that alone is taken back,
    where every check that it was taken out for was judged again. A cordon or a taint of somebody else stays.
  - The cluster is asked and changed by C(kubectl), without a shell, with the credentials of whoever runs
    Ansible. ibready reads no kubeconfig. In check mode the server is asked whether it would take the changes,
    and keeps none.
  - Reads C(kubernetes_rdma_node) of each host, and refuses variables of C(cordon.yml) that differ between hosts.
  - Runs on the controller.
options:
  report:
    description: The run object, of hosts of this inventory, and not older than an hour.
    type: path
    required: true
  context:
    description: The context of the kubeconfig that is this cluster. Without one nothing is asked.
    type: str
    default: ""
  kubectl:
    description: The program, by its name or path.
    type: str
    default: kubectl
  allow:
    description:
      - Consent.
      - V(cordon) makes a node unschedulable, V(taint) sets C(ibready.io/not-ready:NoSchedule), V(back) takes back
        what ibready set where the node is good again.
    type: list
    elements: str
    choices: [cordon, taint, back]
    default: []
  most:
    description: How many nodes of the cluster may take no pods at once, whoever saw to that.
    type: int
    default: 1
  never:
    description: Checks (globs of their ids) that take no node out, because all nodes share what they look at.
    type: list
    elements: str
    default: [fabric.sm.*]
  looked:
    description:
      - What this module answered in check mode. Of its acts those are done that are still due, where the host is this
        run's by M(ibready.cluster.run_lease) (C(ibready_lease)). Who is ready again is given back where that is sure,
        and where ibready did not drain the host (C(ibready_cordon_drained)).
    type: dict
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Say which nodes would take no pods
  ibready.cluster.cordon:
    report: reports/ibready-report.json
    context: training
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
steps:
  description: What was done, each with C(host), C(node), C(back) (whether it was given back), C(does) and C(why).
  type: list
  elements: dict
  returned: always
held: {type: list, elements: dict, returned: always, description: "What stays as it is, each with C(why) and C(next)."}
errors: {type: dict, returned: always, description: "Of each host whose node could not be changed, why."}
out: {type: int, returned: always, description: "How many nodes took no pods before, whoever saw to that."}
known: {type: int, returned: always, description: How many nodes the cluster has.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
