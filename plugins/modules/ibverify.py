#!/usr/bin/python
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
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  areas:
    description: The areas of checks. M(ibready.cluster.nvlinkverify),
      M(ibready.cluster.stackverify), M(ibready.cluster.ncclverify) and
      M(ibready.cluster.containerverify) cover the others; with all of them here, one visit is
      enough. V(container) starts containers only where O(expect.container) is given.
    type: list
    elements: str
    choices: [host, pci, ib, roce, fabric, gpu, nvlink, stack, nccl, container]
    default: [host, pci, ib, roce, fabric]
extends_documentation_fragment:
  - ibready.cluster.verify
  - ibready.cluster.look
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
schema:
  description: The version of this result's shape.
  type: str
  returned: always
  sample: ibready/verdict/1
host:
  description: The host's name.
  type: str
  returned: always
verdict:
  description:
    - V(ready), V(degraded) (only warnings), V(unknown) (could not look) or V(not_ready).
  type: str
  returned: always
  sample: ready
checks:
  description:
    - Every check with its result; docs/checks.md explains each id.
    - Under C(evidence), what a finding was read from in the host's own words, where lines can be
      told to be about it.
  type: list
  elements: dict
  returned: always
  sample:
    - id: ib.port.rate
      subject: mlx5_3/1
      result: fail
      severity: error
      observed: 100 Gb/s
      expected: 400 Gb/s
      expected_from: inventory
      cause: "the link trained with fewer lanes or at a lower speed: cable, dirt or transceiver"
      remedy: compare both ends with `iblinkinfo`; reseat, clean or swap the cable
      evidence:
        /sys/class/infiniband/mlx5_3/ports/1/rate: 100 Gb/sec (4X EDR)
      waived: ""
facts:
  description: What was seen, by area, and under C(machine) what the host is.
  type: dict
  returned: always
clock:
  description:
    - The host's clock when the look began and when it ended, in seconds since 1970; with
      C(asked) and C(answered), seconds of a clock of the controller around the visit.
  type: dict
  returned: when no bundle was judged
"""

from ansible_collections.ibready.cluster.plugins.module_utils import _compiled

_compiled.use()

from ansible_collections.ibready.cluster.plugins.module_utils._module import judge
from ansible_collections.ibready.cluster.plugins.module_utils._verify import AREAS as ALL

AREAS = ("host", "pci", "ib", "roce", "fabric")


def main() -> None:
    options = {"type": "list", "elements": "str", "choices": list(ALL), "default": list(AREAS)}
    judge(AREAS, {"areas": options})


if __name__ == "__main__":
    main()
