#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: topology
short_description: Write the fabric's topology for Slurm, Kubernetes and MPI
version_added: 0.1.0
description:
  - From what M(ibready.cluster.fabric_look) heard of every InfiniBand fabric and what all hosts told of
    their HCAs it writes Slurm's C(topology.conf) and C(topology.yaml), labels of Kubernetes nodes as
    NVIDIA's topograph gives them, and a hostfile in which neighbours share a leaf. docs/topology.md tells
    how.
  - Where GPUs tell of NVLink domains, C(topology-block.conf) and a second topology of C(topology.yaml)
    have them as blocks.
  - A host without a place is named in every file and as a warning. Of a fabric that was not seen as a
    whole nothing is written.
  - Where C(ibready_topology_file) names the site's present file, what differs from the fabric is warned of.
  - Runs on the controller and writes files. No scheduler is touched.
options:
  hosts:
    description: The names of the hosts that the run was for, reached or not.
    type: list
    elements: str
    required: true
  dest:
    description: The folder, relative to the working directory. A file of that name that an earlier run did
      not write is left alone, and nothing is written then.
    type: str
    required: true
  topograph:
    description: The release of topograph whose labels are written. V(1.0) has C(fabric.topograph.run/tier-N),
      V(0.5) C(network.topology.nvidia.com/leaf) and so on.
    type: str
    choices: ['1.0', '0.5']
    default: '1.0'
attributes:
  check_mode:
    description: Renders everything and writes nothing.
    support: full
  diff_mode:
    description: Shows no difference.
    support: none
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Write the topology
  ibready.cluster.topology:
    hosts: "{{ ansible_play_hosts_all }}"
    dest: reports/topology
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
dest: {type: str, returned: success, description: The folder.}
files:
  description: The files below it.
  returned: success
  type: list
  elements: str
  sample: [hostfile, node-labels.yaml, topology.conf, topology.yaml]
written: {type: list, elements: str, returned: success, description: Those that were new or differed.}
removed: {type: list, elements: str, returned: success, description: Those of an earlier run that are no more.}
order: {type: list, elements: str, returned: success, description: "The hosts, neighbours beside each other."}
absent:
  description: Hosts without a place in the tree, and why.
  returned: success
  type: dict
  sample: {"node7": "it took no part in this run"}
domains: {type: dict, returned: success, description: "The hosts of every NVLink domain, empty where there are none."}
notes: {type: list, elements: str, returned: success, description: Hosts whose cables lead to several places.}
checks:
  description: The checks fabric.topology.* of the site's present file.
  returned: success
  type: list
  elements: dict
"""
# The action plugin of the same name does the work: there is nothing to do on a node.
