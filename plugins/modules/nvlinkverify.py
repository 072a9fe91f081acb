#!/usr/bin/python
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nvlinkverify
short_description: Judge this host's GPUs and NVLink
version_added: 0.1.0
description:
  - Looks at the GPUs and their driver, at NVLink, NVSwitches and the fabric manager, each against
    what the recognised hardware promises.
  - A host without an NVIDIA GPU has nothing to judge; every check is skipped and the verdict is
    C(ready) only because the bus was looked at.
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
extends_documentation_fragment:
  - ibready.cluster.verify
  - ibready.cluster.look
"""

EXAMPLES = r"""
- name: Judge GPUs and NVLink
  ibready.cluster.nvlinkverify:

- name: Expect eight H200 with MIG off
  ibready.cluster.nvlinkverify:
    expect:
      gpus: 8
      gpu_model: H200 SXM
      mig: false
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
    - id: nvlink.fabric_manager.version
      subject: nvidia-fabricmanager
      result: fail
      severity: error
      observed: 580.95.05
      expected: 580.105.08
      expected_from: capability
      cause: fabric manager and driver are not of one version
      remedy: install the fabric manager of the driver's version
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
    judge(("gpu", "nvlink"))


if __name__ == "__main__":
    main()
