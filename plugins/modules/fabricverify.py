#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabricverify
short_description: Judge whole InfiniBand fabrics
version_added: 0.1.0
description:
  - Judges what M(ibready.cluster.fabric_look) heard through one port of each fabric, on the
    controller. Who is on the fabric, width and speed of every cable, error counters that rise,
    subnet managers, duplicate GUIDs, rails, uplinks, and every cable against a plan.
  - With O(hosts), of what a run has registered; C(playbooks/fabric.yml) and C(playbooks/verify.yml)
    do so.
  - Without it the host is asked now. In a play over many hosts the first asks for all of them, or
    those that C(ibready_fabric_from) names; the others are skipped. Whose HCA is whose is then
    known only where M(ibready.cluster.ibverify) was registered as C(ibready_ibverify) before.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Reads C(ibready_fabric_plan), C(ibready_fabric_known), C(ibready_fabric_standbys),
    C(ibready_fabric_sharp), C(ibready_fabric_oversubscription) and C(ibready_fabric_design) of the
    inventory, and its waivers.
options:
  hosts:
    description:
      - The names of the hosts that the run was for, reached or not.
      - Nobody is asked then, so neither O(ports) nor O(bundle) can be given.
    type: list
    elements: str
  ports:
    description: The ports to ask, as of M(ibready.cluster.fabric_look).
    type: list
    elements: dict
  bundle:
    description: Judge what this evidence bundle holds of a fabric, and ask nothing.
    type: path
  plan:
    description: The plan of the cables on the controller, instead of C(ibready_fabric_plan).
    type: path
  report_only:
    description: Return the same result without failing.
    type: bool
    default: false
extends_documentation_fragment: [ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Judge the fabrics that this host sees
  ibready.cluster.fabricverify:

- name: Hold every cable against a plan
  ibready.cluster.fabricverify:
    plan: cabling.csv

- name: Judge a bundle that holds an ibnetdiscover
  ibready.cluster.fabricverify:
    bundle: /srv/bundles/node7
  delegate_to: localhost
"""

RETURN = r"""
schema:
  description: The version of this result's shape.
  type: str
  returned: when a fabric was judged
  sample: ibready/verdict/1
verdict:
  description: V(ready), V(degraded), V(unknown) or V(not_ready), over all fabrics.
  type: str
  returned: when a fabric was judged
checks:
  description: Every check of every fabric; docs/checks.md explains each id.
  type: list
  elements: dict
  returned: when a fabric was judged
fabrics:
  description: Every fabric with its verdict, checks, nodes and links.
  type: list
  elements: dict
  returned: always
error: {type: str, returned: always, description: "Why a fabric could not be asked, empty where all could."}
"""
# The action plugin of the same name does the work; M(ibready.cluster.fabric_look) asks.
