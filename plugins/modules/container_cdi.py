#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: container_cdi
short_description: Tell container engines of RDMA devices and GPUs by CDI specifications
version_added: 0.1.0
description:
  - Writes C(/etc/cdi/ibready-rdma.json) from the RDMA devices that the host has, as
    C(ibready.io/rdma=all) and one device for each HCA (C(ibready.io/rdma=mlx5_0)). Each has its
    C(/dev/infiniband/uverbs*), C(rdma_cm), and C(/dev/gdrdrv) where that is there.
  - A small program and two units of systemd write it again at each boot and when devices come or
    go.
  - Without an engine on the host (docker, containerd, podman, CRI-O) there is nobody to tell, and
    no specification.
  - Has NVIDIA's toolkit describe the GPUs, by its own units where it has some (docs/containers.md).
    Warns where more than one file describes them.
options:
  rdma:
    description: Whether there is a specification of RDMA devices. Without, all of it is removed.
    type: bool
    default: true
  gpus:
    description: Whether the toolkit's specification is looked after.
    type: bool
    default: true
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.root, ibready.cluster.inner]
notes:
  - The toolkit's units do not notice that MIG instances changed, or that the driver went. Run
    C(nvidia-ctk cdi generate) then.
"""

EXAMPLES = r"""
- name: Describe the devices
  ibready.cluster.container_cdi:

- name: Describe them no more
  ibready.cluster.container_cdi:
    rdma: false
    gpus: false
"""

RETURN = r"""
devices:
  description: The RDMA devices by the names that engines take.
  type: list
  elements: str
  returned: success
  sample: ["ibready.io/rdma=all", "ibready.io/rdma=mlx5_0"]
files:
  description: The files that were written or removed, or would be in check mode.
  type: list
  elements: str
  returned: success
units:
  description: The units that were enabled or started though no file of theirs changed.
  type: list
  elements: str
  returned: success
left:
  description: What is wished and not done, with the reason.
  type: dict
  returned: success
  sample: {"gpus": "NVIDIA's driver is not loaded"}
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.container.cdi import Cdi
from ..module_utils._act.container.model import EngineError
from ..module_utils._ground import fileset, state, warn


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "rdma": {"type": "bool", "default": True},
            "gpus": {"type": "bool", "default": True},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    given = module.params
    try:
        specs = Cdi(given["root"], check=module.check_mode).keep(rdma=given["rdma"], gpus=given["gpus"])
    except (EngineError, state.StateError) as exc:
        module.fail_json(msg=f"CDI specifications: {exc}")
    if specs.several:
        warn.of_host(module, f"CDI specifications: {specs.several}")
    module.exit_json(
        changed=specs.changed,
        devices=specs.devices,
        files=sorted(specs.files),
        units=specs.units,
        left=specs.left,
        diff=fileset.diffs(specs.files),
    )


if __name__ == "__main__":
    main()
