#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_facts
short_description: Collect in one call what ibready needs to know of a host
version_added: 0.1.0
description:
  - Needs no tool on the host, so that it works on a bare machine; where packages are kept in an
    RPM database, C(rpm) is asked for them, and C(ofed_info) where it is installed.
  - GPUs and HCAs are found by their PCI class and vendor, before any driver is there.
  - What cannot be read is listed in RV(node.unreadable) with the reason, never guessed.
options:
  offers:
    description:
      - Packages whose versions in the host's own package lists are asked for, by C(apt-cache). Nothing is fetched.
      - >-
        The controller's half fills them in for hosts whose driver is to come from the distribution
        (C(stack_driver_flavour)).
    type: list
    elements: str
    default: []
  group:
    description:
      - The inventory's group that the host joins for the plays that follow, where it answered and
        is to be believed; as with M(ansible.builtin.group_by), without a task of its own.
    type: str
extends_documentation_fragment: [ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Know the host
  ibready.cluster.node_facts:
  register: known

- name: Show its HCAs on the PCI bus
  ansible.builtin.debug:
    var: known.node.hcas
"""

RETURN = r"""
node:
  description: The facts.
  type: dict
  returned: always
  contains:
    hostname: {type: str, description: The host's own name.}
    kernel: {type: str, sample: 6.8.0-48-generic, description: The running kernel's release.}
    machine: {type: str, sample: x86_64, description: The processor architecture.}
    os: {type: dict, sample: {"id": "ubuntu", "version": "24.04"}, description: Id and version from os-release.}
    python: {type: str, description: The version of the Python that ran the module.}
    root: {type: bool, description: Whether the module ran as root.}
    cpus: {type: int, description: Processors online.}
    memory_mb: {type: int, description: "Memory in MiB, null where unreadable."}
    gpus:
      description: NVIDIA display and 3D controllers on the PCI bus.
      type: list
      elements: dict
      sample: [{"address": "0000:18:00.0", "vendor": "10de", "device": "2330", "numa_node": 0}]
    hcas:
      description: InfiniBand controllers, and Ethernet controllers of RDMA vendors, on the PCI bus.
      type: list
      elements: dict
    nvswitches:
      description: The PCI device ids of NVSwitches that show on the bus.
      type: list
      elements: str
      sample: ["22a3", "22a3", "22a3", "22a3"]
    nvlink_domain:
      description:
        - The NVLink domain of a host in a rack, as cluster UUID and clique. Empty where its NVLinks do not leave it.
        - Null where nvidia-smi did not tell.
      type: str
      sample: ""
    product: {type: str, description: "The product name in the firmware's tables, empty where there is none."}
    secure_boot: {type: bool, description: "Whether Secure Boot is on, null where that could not be read."}
    installed:
      description:
        - What of a stack is installed now, by part; empty for what is not.
        - Empty altogether where the package database could not be read.
      type: dict
      sample: {"driver": "580.126.20 open", "nccl": "", "rdma": "inbox 50.0-2build2"}
    engines:
      description: Container engines that are installed, with their versions.
      type: dict
      sample: {"containerd": "1.7.24"}
    offered:
      description: By package of O(offers), the versions that the host's lists have; empty where there is no apt.
      type: dict
      sample: {"nvidia-open-kernel-dkms": ["550.163.01-2"]}
    rdma_devices: {type: list, elements: str, description: The names below /sys/class/infiniband.}
    soft_rdma_devices:
      description: Those of them that are RDMA in software (soft RoCE), without hardware.
      type: list
      elements: str
    beside:
      description:
        - What somebody else set beside what ibready writes, at most 60, then how many more (V(more)).
        - C(kind) is V(sysctl) or V(limit) (a line below C(/etc) of a file that no package brought as it is),
          V(container) (docker's limits of every container), V(manager) (a subnet manager that runs or starts at boot)
          or V(conffile) (a package's file that ibready edits in place, edited before the first converge).
      type: list
      elements: dict
      sample: [{"kind": "sysctl", "what": "net/core/rmem_max", "said": "268435456", "where": "/etc/sysctl.d/9-x.conf"}]
    simulated: {type: str, description: What of this host is simulated; empty on real hardware.}
    unreadable: {type: list, elements: str, description: "What could not be read, and why."}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import offers
from ..module_utils._areas.stack.contact import collect
from ..module_utils._evidence.sources import Live


def main() -> None:
    module = AnsibleModule(
        argument_spec={"group": {"type": "str"}, "offers": {"type": "list", "elements": "str", "default": []}},
        supports_check_mode=True,
    )
    node = collect(Live())
    node["offered"], why = offers.offered(module.params["offers"])
    node["unreadable"] += [why] if why else []
    module.exit_json(changed=False, node=node)


if __name__ == "__main__":
    main()
