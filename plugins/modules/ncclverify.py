#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ncclverify
short_description: Judge what NCCL did, by the log of a job
version_added: 0.1.0
description:
  - Reads the output of a job that ran with C(NCCL_DEBUG=INFO), of one rank or of all of them, and
    judges which network it really used, GPUDirect RDMA, rails, and the first cause of a failure.
  - NCCL falls back to TCP, or to copies through host memory, without a failure; nothing but its
    log tells.
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass. Without a log there is nothing to judge, and
    the verdict is C(unknown).
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  log:
    description:
      - The log, a file on the host of at most 64 MiB. A bundle may hold one itself.
    type: path
extends_documentation_fragment:
  - ibready.cluster.verify
"""

EXAMPLES = r"""
- name: Judge the log of last night's job
  ibready.cluster.ncclverify:
    log: /var/log/training/job-4711.log

- name: Demand that it used eight rails
  ibready.cluster.ncclverify:
    log: /var/log/training/job-4711.log
    expect:
      hcas: 8
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
  description: Every check with its result; docs/checks.md explains each id.
  type: list
  elements: dict
  returned: always
  sample:
    - id: nccl.log.network
      subject: nccl_log
      result: fail
      severity: error
      observed: Socket
      expected: InfiniBand or RoCE
      expected_from: capability
      cause: 'no HCA to use: /dev/infiniband is missing or empty'
      remedy: see NCCL_IB_HCA and NCCL_IB_DISABLE, and the container's devices
      evidence: {}
      waived: ""
facts:
  description: What was seen, by area, and under C(machine) what the host is.
  type: dict
  returned: always
"""

from ansible_collections.ibready.cluster.plugins.module_utils._module import judge


def main() -> None:
    judge(("nccl",), {"log": {"type": "path"}})


if __name__ == "__main__":
    main()
