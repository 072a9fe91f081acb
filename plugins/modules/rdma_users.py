#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: rdma_users
short_description: Tell whether the RDMA stack has to be restarted, and what that would break
version_added: 0.1.0
description:
  - Compares the loaded modules of the RDMA stack with those that are installed for the running
    kernel.
  - Names what would keep a restart of the stack (C(openibd)) from working, or break by it - mounted
    file systems over RDMA, kernel modules with users, peer memory, programs with an RDMA device
    open.
  - Changes nothing.
options:
  wanted:
    description:
      - Modules that have to be loaded as they are installed, as those that differed before a
        restart.
    type: list
    elements: str
    default: []
extends_documentation_fragment: [ibready.cluster.look, ibready.cluster.root, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: See whether openibd may be restarted
  ibready.cluster.rdma_users:
  register: users

- name: See after the restart what is not as installed
  ibready.cluster.rdma_users:
    wanted: "{{ users.differs | map(attribute='module') | list }}"
"""

RETURN = r"""
service: {type: bool, returned: success, description: Whether the stack has the service openibd.}
needed:
  description: Whether a module is loaded in another version than the one installed.
  type: bool
  returned: success
differs:
  description: These modules, with C(module), C(loaded) and C(installed).
  type: list
  elements: dict
  returned: success
why:
  description: The same, one sentence each.
  type: list
  elements: str
  returned: success
  sample: ["mlx5_core 24.10-1.1.4 is loaded, 25.10-3.1.8 is installed"]
loaded:
  description: The modules of the stack that were looked for and are loaded.
  type: list
  elements: str
  returned: success
  sample: [mlx5_core, ib_core]
unknown:
  description: Loaded modules of which C(modinfo) knows nothing for the running kernel.
  type: list
  elements: str
  returned: success
not_back:
  description:
    - Modules that differ, and those of O(wanted) that are not loaded or of which nobody can tell
      whether they are the installed ones.
  type: list
  elements: str
  returned: success
blockers:
  description: What a restart would break, with C(kind), C(name), C(what) and C(following).
  type: list
  elements: dict
  returned: success
why_not:
  description: The blockers, one sentence each with what to do about it.
  type: list
  elements: str
  returned: success
"""

import os
from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._areas.host.reboot import parse_modinfo
from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._ground import state
from ..module_utils._ground.command import Unavailable, run_by_name
from ..module_utils._rails import users as _rdma_users

_SERVICE = (
    "/etc/init.d/openibd",
    "/usr/lib/systemd/system/openibd.service",
    "/lib/systemd/system/openibd.service",
)


def modinfo(name: str) -> dict[str, str] | None:
    """Version and srcversion of a module's file for the running kernel."""
    try:
        done = run_by_name(["modinfo", name], 20)
        told = parse_modinfo(done.stdout)
    except (Unavailable, ValueError):
        return None
    return {"version": told.version, "srcversion": told.srcversion} if done.rc == 0 else None


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "wanted": {"type": "list", "elements": "str", "default": []},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    root = module.params["root"]
    differs, unknown = _rdma_users.differs(root, modinfo)
    loaded = _rdma_users.loaded(root)
    blockers = _rdma_users.look(root)
    module.exit_json(
        changed=False,
        service=any(os.path.exists(state.below(root, path)) for path in _SERVICE),
        needed=bool(differs),
        differs=[asdict(differ) for differ in differs],
        why=[str(differ) for differ in differs],
        loaded=loaded,
        unknown=unknown,
        not_back=_rdma_users.not_back(module.params["wanted"], differs, loaded, unknown),
        blockers=[asdict(blocker) for blocker in blockers],
        why_not=[str(blocker) for blocker in blockers],
    )


if __name__ == "__main__":
    main()
