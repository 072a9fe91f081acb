#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stackverify
short_description: Judge the software stack of this host
version_added: 0.1.0
description:
  - Looks at what is installed and loaded, RDMA stack, driver modules and peer memory, and compares
    it with the lock where there is one.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Judge the stack
  ibready.cluster.stackverify:

- name: Compare it with what was planned
  ibready.cluster.stackverify:
    expect:
      stack:
        rdma: {flavour: doca, version: 25.10-1.2.8.0}
        driver: {version: 580.105.08}
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

from ..module_utils._areas.stack.area import AREA as stack
from ..module_utils._verify.module import judge


def main() -> None:
    judge((stack,))


if __name__ == "__main__":
    main()
