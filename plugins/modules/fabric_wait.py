#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_wait
short_description: Wait until a host's HCAs are Active and its fabric manager is ready
version_added: 0.1.0
description:
  - After a reboot or a restart of the RDMA stack, ports take seconds to minutes until the subnet
    manager has brought them up, and GPUs until the fabric manager has them in the NVLink fabric.
  - Returns as soon as all is there. At the deadline it fails, and names each port and GPU that is
    not.
options:
  ports:
    description: The ports that have to be Active, as C(DEVICE/PORT).
    type: list
    elements: str
    default: []
  fabric_manager:
    description: Whether to wait for the fabric manager, and for the GPUs' fabric state, as well.
    type: bool
    default: false
  timeout:
    description: Seconds to wait at most.
    type: int
    default: 300
  interval:
    description: Seconds between two looks.
    type: float
    default: 2
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.root, ibready.cluster.inner]
attributes:
  check_mode:
    description: Looks once and does not wait, because nothing was changed.
    support: full
"""

EXAMPLES = r"""
- name: Wait for the rails
  ibready.cluster.fabric_wait:
    ports: [mlx5_0/1, mlx5_1/1]
    fabric_manager: true
"""

RETURN = r"""
waited_s: {type: float, returned: success, description: Seconds until all was there.}
missing: {type: list, elements: str, returned: always, description: "What is not there, in words."}
"""

import platform
import time

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.reboot import fabric_wait
from ..module_utils._evidence.sources import Live


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "ports": {"type": "list", "elements": "str", "default": []},
            "fabric_manager": {"type": "bool", "default": False},
            "timeout": {"type": "int", "default": 300},
            "interval": {"type": "float", "default": 2},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    given = module.params
    evidence = Live(given["root"])
    begun = time.monotonic()
    while True:
        missing = fabric_wait.missing(evidence, given["ports"], given["fabric_manager"])
        waited = time.monotonic() - begun
        if not missing or module.check_mode:
            module.exit_json(changed=False, waited_s=round(waited, 1), missing=missing)
        if waited + given["interval"] > given["timeout"]:
            break
        time.sleep(given["interval"])
    module.fail_json(
        msg=f"{platform.node()}: after {waited:.0f} s {'; '.join(missing)}. What waits for this "
        "host does not go on. Next: `ibstat` and `dmesg` on the host; a port that is Initializing "
        "waits for the subnet manager, one that is Down for its cable or the switch; `systemctl "
        "status nvidia-fabricmanager` for the fabric manager",
        missing=missing,
    )


if __name__ == "__main__":
    main()
