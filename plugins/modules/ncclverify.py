#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: ncclverify
short_description: Prove what NCCL does on this host, or judge what it did by the log of a job
version_added: 0.1.0
description:
  - Without O(log), loads the installed library in a process of its own, which needs no GPU, and
    sees which settings it takes and where it listens. Every line of C(/etc/nccl.conf) is judged by
    what the library made of it, and by what this host needs (docs/nccl-conf.md). Other copies of
    NCCL, and what goes before C(/etc/nccl.conf), are searched for.
  - With O(log), reads the output of a job that ran with C(NCCL_DEBUG=INFO), of one rank or of all
    of them, and judges which network it really used, GPUDirect RDMA, rails, and the first cause of
    a failure. NCCL falls back to TCP, or to copies through host memory, without a failure; nothing
    but its log tells.
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  log:
    description:
      - The log, a file on the host of at most 64 MiB. A bundle may hold one itself.
      - It may be of a job of other hosts, so nothing else of this one is judged then.
    type: path
  only:
    description: Ids of checks. Others are left out of the result.
    type: list
    elements: str
extends_documentation_fragment:
  - ibready.cluster.verify
  - ibready.cluster.look
"""

EXAMPLES = r"""
- name: Prove what NCCL takes from its configuration
  ibready.cluster.ncclverify:

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


def main() -> None:
    judge(("nccl",), {"log": {"type": "path"}, "only": {"type": "list", "elements": "str"}})


if __name__ == "__main__":
    main()
