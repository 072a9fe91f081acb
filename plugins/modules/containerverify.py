#!/usr/bin/python
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
  - Without an image a tiny one is made of the host's own files (a shell, libibverbs and its
    providers, C(ibv_devinfo)). It proves the engine and the host's packages; what a job's image has
    only that image tells.
  - Every check says what was seen, what was expected and who expects it. What could not be looked
    at is C(unknown), and C(unknown) is never a pass.
  - Fails when the verdict is C(not_ready) or C(unknown), unless O(report_only=true).
  - Leaves nothing behind. Containers are removed by their name, the tiny image when both have
    ended; an image is fetched only where the site allows it.
  - The image needs C(/bin/sh), and C(ibv_devinfo) or C(python3) to prove that its devices open.
options:
  only:
    description: Ids of checks. Others are left out of the result.
    type: list
    elements: str
extends_documentation_fragment:
  - ibready.cluster.verify
  - ibready.cluster.look
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
    - id: container.limit.memlock
      subject: user 65534
      result: fail
      severity: error
      observed: 8 MiB
      expected: unlimited
      expected_from: capability
      cause: the engine gives containers its own limit; CAP_IPC_LOCK of the container does nothing
        for a user who is not root
      remedy: LimitMEMLOCK=infinity in a drop-in of containerd.service (role container_runtime),
        then restart it
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
    judge(("container",), {"only": {"type": "list", "elements": "str"}}, {"container": {}})


if __name__ == "__main__":
    main()
