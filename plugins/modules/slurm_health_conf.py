#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_health_conf
short_description: Keep the health check's lines in slurm.conf
version_added: 0.1.0
description:
  - Keeps lines between two marks in a file that is otherwise the site's.
  - A file that has a line of its own with one of the names is refused and left as it is.
options:
  path:
    description: The path of C(slurm.conf).
    type: path
    required: true
  lines:
    description: Names and values.
    type: dict
    required: true
  state:
    description: With V(absent) the block is taken out.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Have Slurm ask the health agent
  ibready.cluster.slurm_health_conf:
    path: /etc/slurm/slurm.conf
    lines:
      HealthCheckProgram: /usr/local/lib/ibready/slurm-health
      HealthCheckInterval: "60"
      HealthCheckNodeState: ANY
"""

RETURN = r"""
path: {type: str, returned: success, description: "The file itself, links followed."}
"""

import os
import socket

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._agent import slurm_conf
from ..module_utils._ground import state
from ..module_utils._ground.keyvalue import ConfError


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "lines": {"type": "dict", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        supports_check_mode=True,
    )
    path = os.path.realpath(module.params["path"])
    lines = {str(key): str(value) for key, value in module.params["lines"].items()}
    present = module.params["state"] == "present"
    try:
        if present and not os.path.isfile(path):
            raise ConfError("no such file")
        before = state.read(path)
        after = slurm_conf.merged(before, lines if present else {})
        if after != before and not module.check_mode:
            reported = os.stat(path)
            state.write(path, after, reported.st_mode & 0o7777, (reported.st_uid, reported.st_gid))
    except (ConfError, OSError) as exc:
        module.fail_json(
            msg=f"{socket.gethostname()}: {path} was left as it is: {exc}. Next: give the path of"
            " slurm.conf, or take the line out of it that is to be ibready's"
        )
    module.exit_json(changed=after != before, path=path, diff=state.diff(path, before, after))


if __name__ == "__main__":
    main()
