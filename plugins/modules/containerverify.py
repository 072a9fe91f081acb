#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: containerverify
short_description: Prove what a training container gets on this host
version_added: 0.1.0
description:
  - Starts a real container of the site's image with the engine that the host has, as root and as
    another user, with what jobs are started with (RDMA devices, GPUs, the host's network and
    C(/dev/shm), C(CAP_IPC_LOCK), C(/etc/nccl.conf)), and judges what it sees. No limit is asked
    for, because what the engine gives by itself is what is to be proved.
  - Without an image a tiny one is made of the host's own files. It proves the engine and the host's
    packages; what a job's image has only that image tells.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Leaves nothing behind. Containers are removed by their name, the tiny image when both have
    ended; an image is fetched only where the site allows it.
  - The image needs C(/bin/sh), and C(ibv_devinfo) or C(python3) to prove that its devices open.
options:
  only:
    description: Ids of checks. Others are left out of the result.
    type: list
    elements: str
extends_documentation_fragment: [ibready.cluster.verify, ibready.cluster.look]
"""

EXAMPLES = r"""
- name: Prove that this host's engine hands RDMA to containers
  ibready.cluster.containerverify:

- name: Prove that the image which is trained with can use it
  ibready.cluster.containerverify:
    expect:
      container:
        engine: docker
        image: registry.example.com/train:25.10

- name: The same for a user of the site, and with the CDI device of the RDMA hardware
  ibready.cluster.containerverify:
    expect:
      container:
        image: registry.example.com/train:25.10
        user: 2001
        devices: ["example.com/rdma=all", "nvidia.com/gpu=all"]

- name: Judge what was recorded on another host
  ibready.cluster.containerverify:
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

from ..module_utils._areas.container.area import AREA as container
from ..module_utils._verify.module import judge


def main() -> None:
    judge((container,), {"only": {"type": "list", "elements": "str"}}, {"container": {}})


if __name__ == "__main__":
    main()
