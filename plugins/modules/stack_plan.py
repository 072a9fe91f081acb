#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_plan
short_description: Choose a matched stack for every host, show it, and keep it in a lock
version_added: 0.1.0
description:
  - Runs on the controller and touches no host. From what M(ibready.cluster.node_facts) told of the
    hosts (C(ibready_node)), the variables C(stack_*) and the compatibility matrix it chooses, for
    each class of equal hosts, the RDMA stack, the NVIDIA driver with its fabric manager, NCCL and
    the container toolkit that go together.
  - An answer is C(known) if somebody shipped that stack together, C(allowed) if it breaks no
    confirmed rule. Otherwise the module fails and names the rule, the two facts that collide, and
    the nearest stack that would go.
  - The choice is written to C(stack.lock.yml) beside the inventory, and to a CycloneDX bill of
    materials, C(stack.sbom.cdx.json). Later runs keep to the lock.
options:
  hosts:
    description:
      - The hosts to plan for. Those that did not tell what they are get no plan.
      - A host whose answer cannot be used gets none either (RV(refused)); the others do.
    type: list
    elements: str
    required: true
  relock:
    description:
      - Choose anew even where there is a lock, and show the difference. The lock of before is kept
        as C(stack.lock.previous.yml).
    type: bool
    default: false
  write:
    description: Write the lock and the bill of materials. In check mode nothing is written.
    type: bool
    default: true
  show_only:
    description: Do not fail where nobody said where a repository is to be had; nothing can be
      installed from such a plan.
    type: bool
    default: false
  bundle:
    description:
      - Whether everything comes from the site's bundle where there is one (C(stack_bundle)). One
        that lies on the controller is verified first, and refused if it is damaged, not signed by
        C(stack_bundle_key), or made for another stack. The key goes out with the plan; that of a
        bundle behind an address is taken from gpg of the controller.
    type: bool
    default: true
    version_added: 0.1.0
attributes:
  check_mode:
    description: Shows the plan and writes nothing.
    support: full
  diff_mode:
    description: What differs from the lock is always shown.
    support: none
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Know the hosts
  ibready.cluster.node_facts:
  register: ibready_node

- name: Plan their stack
  ibready.cluster.stack_plan:
    hosts: "{{ ansible_play_hosts_all }}"
  register: planned
  run_once: true
  delegate_to: localhost

- name: Show the driver of this host
  ansible.builtin.debug:
    msg: "{{ planned.plans[planned.classes[inventory_hostname]].stack.driver }}"
"""

RETURN = r"""
table: {type: str, returned: success, description: "The plan as it was shown, class by class."}
plans:
  description: By class, the stack and what a package manager has to be told to install it.
  returned: success
  type: dict
  contains:
    class: {type: str, description: The name of the class.}
    verdict: {type: str, description: C(known) or C(allowed).}
    because: {type: list, elements: str, description: The reasons.}
    digest: {type: str, description: "A sum of the stack, which tells it from another one."}
    stack:
      description: The parts of the stack with their versions.
      type: dict
      sample: {"driver": {"branch": "580", "version": "580.173.02", "modules": "open"}}
    install: {type: dict, description: "Repositories, packages and pins, part by part."}
classes:
  description: The class of each host.
  returned: success
  type: dict
  sample: {"node1": "ubuntu24.04-6.8-x86-64_hgx-h100-8_connectx-7"}
refused:
  description: Why hosts that answered get no plan, by host.
  returned: success
  type: dict
  version_added: 0.1.0
changes: {type: list, elements: str, returned: success, description: What differs from the lock.}
lock: {type: str, returned: success, description: The lock file on the controller.}
written: {type: list, elements: str, returned: success, description: The files that were written on the controller.}
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
