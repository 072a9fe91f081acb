#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
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
    a failure (docs/nccl-logs.md).
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
options:
  log:
    description:
      - The log, a file on the host of at most 64 MiB. A bundle may hold one itself. Root follows no
        link to it that another user may change; name the file itself then.
      - It may be of a job of other hosts, so nothing else of this one is judged then.
    type: path
  only:
    description: Ids of checks. Others are left out of the result.
    type: list
    elements: str
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
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

from ..module_utils._areas.nccl.area import AREA as nccl
from ..module_utils._verify.module import judge


def main() -> None:
    judge((nccl,), {"log": {"type": "path"}, "only": {"type": "list", "elements": "str"}})


if __name__ == "__main__":
    main()
