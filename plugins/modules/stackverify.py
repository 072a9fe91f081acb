#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stackverify
short_description: Judge the software stack of this host
version_added: 0.1.0
description:
  - Looks at what is installed and loaded, RDMA stack, driver modules and peer memory, and compares
    it with the lock where there is one.
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
extends_documentation_fragment:
  - ibready.cluster.verify
  - ibready.cluster.look
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
    - id: stack.peer_memory.usable
      subject: host
      result: pass
      severity: error
      observed: DMA-BUF
      expected: a path from GPU memory to the HCAs
      expected_from: capability
      cause: ""
      remedy: ""
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
    judge(("stack",))


if __name__ == "__main__":
    main()
