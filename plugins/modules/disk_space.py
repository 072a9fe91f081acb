#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: disk_space
short_description: See how much space is left where files are to be written
version_added: 0.1.0
description:
  - Asks the file system of each path for its free space. Changes nothing.
  - Unlike the C(mounts) facts it sees a container's overlay file system too.
options:
  paths:
    description:
      - Directories to be written to. Where one does not exist yet, the nearest directory above it
        counts.
    type: list
    elements: path
    required: true
  min_free_mb:
    description: How much must be free for each path, in MiB.
    type: int
    required: true
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.inner]
attributes:
  check_mode:
    description: Runs the same in check mode, because it never changes the node.
    support: full
"""

EXAMPLES = r"""
- name: See whether there is room for packages
  ibready.cluster.disk_space:
    paths: [/var/cache, /usr]
    min_free_mb: 300
  register: space
"""

RETURN = r"""
free_mb:
  description: The space that is left for each path, in whole MiB.
  type: dict
  returned: success
  sample: {"/usr": 10240, "/var/cache": 10240}
short:
  description: The paths with too little, one phrase each; empty when there is room everywhere.
  type: list
  elements: str
  returned: success
  sample: ["/var/cache has 12 MiB free, 300 needed"]
"""

import os

from ansible.module_utils.basic import AnsibleModule


def free_mb(path: str) -> int:
    """Space that is left for `path`, in whole MiB; OSError when nothing of it can be asked."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    stat = os.statvfs(path)
    return stat.f_bavail * stat.f_frsize // 2**20


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "paths": {"type": "list", "elements": "path", "required": True},
            "min_free_mb": {"type": "int", "required": True},
        },
        supports_check_mode=True,
    )
    needed: int = module.params["min_free_mb"]
    free: dict[str, int] = {}
    for path in module.params["paths"]:
        if not os.path.isabs(path):
            module.fail_json(msg=f"{path!r} is not an absolute path")
        try:
            free[path] = free_mb(path)
        except OSError as exc:
            module.fail_json(msg=f"Cannot see the free space of {path}: {exc.strerror}")
    short = [f"{path} has {mb} MiB free, {needed} needed" for path, mb in free.items() if mb < needed]
    module.exit_json(changed=False, free_mb=free, short=short)


if __name__ == "__main__":
    main()
