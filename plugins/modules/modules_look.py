#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: modules_look
short_description: See which kernel modules are still to be loaded
version_added: 0.1.0
description:
  - Asks C(modprobe --dry-run) for each module whether the running kernel has it, and whether it
    would have to be loaded.
options:
  names:
    description: Kernel modules.
    type: list
    elements: str
    required: true
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See what is still to be loaded
  ibready.cluster.modules_look:
    names: [ib_umad, rdma_ucm]
"""

RETURN = r"""
home:
  description: Where the running kernel's modules lie.
  type: str
  returned: success
  sample: /lib/modules/6.8.0-88-generic
there:
  description:
    - Whether that directory is there. Nothing was asked where it is not; nor in check mode where
      C(modprobe) is not installed yet.
  type: bool
  returned: success
known: {type: list, elements: str, returned: success, description: The modules that the kernel has.}
waiting: {type: list, elements: str, returned: success, description: Those of them that are not loaded.}
unknown: {type: list, elements: str, returned: success, description: The modules that the kernel does not have.}
"""

import os

from ansible.module_utils.basic import AnsibleModule


def _probe(module: AnsibleModule, program: str, name: str) -> tuple[bool, bool]:
    """Whether the kernel has it, and whether it waits to be loaded."""
    argv = [program, "--dry-run", "--verbose", name]
    status, out, err = module.run_command(argv)
    if status not in (0, 1):
        module.fail_json(msg=f"{' '.join(argv)} ended with status {status}: {(err or out).strip()}")
    # It prints an insmod line for a module still to be loaded, nothing for one that is there.
    return status == 0, "insmod" in out


def main() -> None:
    module = AnsibleModule(
        argument_spec={"names": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    home = f"/lib/modules/{os.uname().release}"
    there = os.path.isdir(home)
    names = module.params["names"] if there else []
    program = module.get_bin_path("modprobe", required=bool(names) and not module.check_mode)
    seen = {name: _probe(module, program, name) for name in (names if program else [])}
    module.exit_json(
        changed=False,
        home=home,
        there=there,
        known=[name for name, (known, _waits) in seen.items() if known],
        waiting=[name for name, (known, waits) in seen.items() if known and waits],
        unknown=[name for name, (known, _waits) in seen.items() if not known],
    )


if __name__ == "__main__":
    main()
