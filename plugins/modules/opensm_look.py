#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: opensm_look
short_description: See which port a subnet manager would run on, and who manages the fabric there
version_added: 0.1.0
description:
  - Finds the port of each fabric, its GUID and LID, and asks with C(sminfo) for the master of the
    fabric and for a subnet manager on the port itself.
  - Only looks.
options:
  host:
    description: This host's name, which is returned as it is.
    type: str
    required: true
  fabrics:
    description:
      - The fabrics, each with its C(name) and its C(port) of this host. Other keys are left aside.
    type: list
    elements: dict
    required: true
attributes:
  check_mode:
    description: Changes nothing in any case.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See who manages the fabric
  ibready.cluster.opensm_look:
    host: "{{ inventory_hostname }}"
    fabrics:
      - name: compute
        port: mlx5_0/1
"""

RETURN = r"""
host: {type: str, returned: success, description: The name that was given.}
fabrics:
  description:
    - What each port shows, by the fabric's name. C(master) is the GUID of the fabric's master,
      empty where none answered; C(own) is the state of a subnet manager on the port itself, as
      C(sminfo) words it; C(unasked) says why nobody could be asked.
  type: dict
  returned: success
  sample:
    compute:
      port: mlx5_0/1
      guid: "0x0000000000000202"
      lid: 1
      state: Active
      physical: LinkUp
      master: "0x0000000000000202"
      priority: 14
      own: SMINFO_MASTER
      unasked: ""
others:
  description: opensm processes that are not of ibready's units.
  type: list
  elements: str
  returned: success
  sample: ["opensm.service (process 812)"]
"""


from ansible.module_utils.basic import AnsibleModule

from ..module_utils._act.opensm import ask
from ..module_utils._act.opensm.fabrics import AUTO, OpensmError
from ..module_utils._evidence.sources import Live


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "host": {"type": "str", "required": True},
            "fabrics": {"type": "list", "elements": "dict", "required": True},
        },
        supports_check_mode=True,
    )
    try:
        fabrics = module.params["fabrics"]
        wanted = {str(fabric.get("name", "")): str(fabric.get("port", AUTO)) for fabric in fabrics}
        seen = ask.look(Live(), wanted)
    except OpensmError as exc:
        module.fail_json(msg=f"Subnet manager: {exc}")
    module.exit_json(
        changed=False,
        host=module.params["host"],
        fabrics={name: entry.to_dict() for name, entry in seen.items()},
        others=ask.others(),
    )


if __name__ == "__main__":
    main()
