#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hostverify
short_description: Judge this host in every area, in one visit
version_added: 0.1.0
description:
  - What M(ibready.cluster.ibverify), M(ibready.cluster.nvlinkverify),
    M(ibready.cluster.stackverify), M(ibready.cluster.ncclverify) and
    M(ibready.cluster.containerverify) judge, at the price of one visit. The playbooks use it.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  areas:
    description: The areas of checks. V(container) starts containers only where
      O(expect.container) is given.
    type: list
    elements: str
    choices: [host, pci, ib, roce, fabric, gpu, nvlink, stack, nccl, container]
    default: [host, pci, ib, roce, fabric, gpu, nvlink, stack, nccl, container]
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Judge everything without failing
  ibready.cluster.hostverify:
    report_only: true
  register: judged

- name: Judge ports and GPUs of a bundle that was collected on another host
  ibready.cluster.hostverify:
    areas: [pci, ib, roce, gpu, nvlink]
    bundle: /srv/bundles/node7
  delegate_to: localhost
"""

RETURN = r"""
schema: {type: str, returned: always, sample: ibready/verdict/1, description: The version of this result's shape.}
host: {type: str, returned: always, description: The host's name.}
verdict:
  description:
    - V(ready), V(degraded) (only warnings), V(unknown) (could not look) or V(not_ready).
    - V(ready), too, where every check that was asked for is of something that the host does not have, as of GPUs on a
      host without any. C(ansible -m) and C(ibready verify) call such a host C(skipped), for nothing was looked at.
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
  returned: without O(answer=short)
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
facts: {type: dict, returned: without answer=short, description: "What was seen, by area; C(machine) is the host."}
counts:
  description: How many checks came out how.
  type: dict
  returned: with O(answer=short)
  sample: {pass: 57, skip: 30}
findings:
  description: A sentence for each cause; where every check is skipped for each reason to skip.
  type: list
  elements: str
  returned: with O(answer=short)
waived:
  description: Failures that are waived, each with its waiver.
  type: list
  elements: str
  returned: with O(answer=short) where any is
clock:
  description:
    - The host's clock when the look began and when it ended, in seconds since 1970; with
      C(asked) and C(answered), seconds of a clock of the controller around the visit.
  type: dict
  returned: when no bundle was judged
"""

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._verify.module import judge
from ..module_utils._verify.verify import ALL, AREAS


def main() -> None:
    names = list(AREAS)
    judge(ALL, {"areas": {"type": "list", "elements": "str", "choices": names, "default": names}})


if __name__ == "__main__":
    main()
