#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nvlinkverify
short_description: Judge this host's GPUs and NVLink
version_added: 0.1.0
description:
  - Looks at the GPUs and their driver, at NVLink, NVSwitches and the fabric manager, each against
    what the recognised hardware promises.
  - A host without an NVIDIA GPU has nothing to judge; every check is skipped, and so is the host.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Never changes the host.
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
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

from ..module_utils._areas.gpu.area import AREA as gpu
from ..module_utils._areas.nvlink.area import AREA as nvlink
from ..module_utils._verify.module import judge


def main() -> None:
    judge((gpu, nvlink))


if __name__ == "__main__":
    main()
