#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ibverify
short_description: Judge this host as an RDMA node
version_added: 0.1.0
description:
  - Looks at the host itself, its PCI bus, its InfiniBand and its RoCE ports.
  - Reads C(ibstat), the kernel's sysfs files as a second source, and asks the subnet manager from
    every Active InfiniBand port with C(sminfo).
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  areas:
    description: The areas of checks. M(ibready.cluster.nvlinkverify),
      M(ibready.cluster.stackverify), M(ibready.cluster.ncclverify) and
      M(ibready.cluster.containerverify) cover the others. Where they are named here,
      M(ibready.cluster.hostverify) looks at all of them in one visit.
    type: list
    elements: str
    choices: [host, pci, ib, roce, fabric, gpu, nvlink, stack, nccl, container]
    default: [host, pci, ib, roce, fabric]
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Judge the host against ibready_expect of the inventory
  ibready.cluster.ibverify:

- name: Expect eight NDR rails, and leave the storage HCA alone
  ibready.cluster.ibverify:
    expect:
      hcas: 8
      link_layer: InfiniBand
      rate_gbps: 400
      ignore: [mlx5_8]

- name: Judge everything in one visit, without failing
  ibready.cluster.ibverify:
    areas: [host, pci, ib, roce, gpu, nvlink, stack]
    report_only: true
  register: judged

- name: Judge a bundle that was collected on another host
  ibready.cluster.ibverify:
    bundle: /srv/bundles/node7
  delegate_to: localhost
"""

RETURN = r"""
schema: {type: str, returned: always, sample: ibready/verdict/1, description: The version of this result's shape.}
host: {type: str, returned: always, description: The host's name.}
verdict:
  description: V(ready), V(degraded), V(unknown) or V(not_ready), as of M(ibready.cluster.hostverify).
  type: str
  returned: always
  sample: ready
checks: {type: list, elements: dict, returned: without answer=short, description: As of M(ibready.cluster.hostverify).}
facts: {type: dict, returned: without answer=short, description: "What was seen, by area; C(machine) is the host."}
counts: {type: dict, returned: with O(answer=short), description: As of M(ibready.cluster.hostverify).}
findings: {type: list, elements: str, returned: with O(answer=short), description: As of M(ibready.cluster.hostverify).}
waived: {type: list, elements: str, returned: with O(answer=short), description: As of M(ibready.cluster.hostverify).}
clock:
  description: Times of the host and of the controller, as of M(ibready.cluster.hostverify).
  type: dict
  returned: when no bundle was judged
"""

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._areas.fabric.area import AREA as fabric
from ..module_utils._areas.host.area import AREA as host
from ..module_utils._areas.ib.area import AREA as ib
from ..module_utils._areas.pci.area import AREA as pci
from ..module_utils._areas.roce.area import AREA as roce
from ..module_utils._ground.catalog import AREAS
from ..module_utils._verify.module import judge

OWN = (host, pci, ib, roce, fabric)


def main() -> None:
    own = [area.name for area in OWN]
    judge(OWN, {"areas": {"type": "list", "elements": "str", "choices": list(AREAS), "default": own}})


if __name__ == "__main__":
    main()
