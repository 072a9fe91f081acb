#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: beegfs_conf
short_description: Have the BeeGFS client of a host use RDMA
version_added: 0.1.0
description:
  - Changes values in C(beegfs-client.conf) and C(beegfs-client-autobuild.conf) where they stand,
    and keeps every other byte. A copy of a changed file is kept.
  - A host without these files has no BeeGFS client, and is left alone.
  - Builds nothing, starts nothing and mounts nothing.
options:
  directory:
    description: Where BeeGFS keeps its files.
    type: path
    default: /etc/beegfs
  rdma:
    description: The value of C(connUseRDMA).
    type: bool
    default: true
  settings:
    description: More settings of C(beegfs-client.conf).
    type: dict
    default: {}
  interfaces:
    description: What C(connInterfacesFile) is to hold, one interface a line; without any it stays.
    type: list
    elements: str
    default: []
  rdma_interfaces:
    description: What C(connRDMAInterfacesFile) is to hold; without any it stays.
    type: list
    elements: str
    default: []
  ofed_include:
    description:
      - The value of C(OFED_INCLUDE_PATH) among C(buildArgs). V(auto) takes the headers of MLNX_OFED
        or DOCA where they are; empty leaves them as they are.
    type: str
    default: auto
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Use RDMA from two interfaces
  ibready.cluster.beegfs_conf:
    rdma_interfaces: [ib0, ib1]
    settings:
      connRDMABufNum: 70
      connRDMABufSize: 8192
"""

RETURN = r"""
installed: {type: bool, returned: success, description: Whether the client's file is there.}
files: {type: list, elements: str, returned: success, description: The files that changed.}
msg: {type: str, returned: success, description: What is left to do.}
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act import beegfs_lines
from ..module_utils._ground import state
from ..module_utils._ground.keyvalue import ConfError


def _apply(module: AnsibleModule) -> dict[str, Any]:
    given = module.params
    files = beegfs_lines.files(given, state.read, os.path.isdir)
    diffs = []
    for path, text in files.items():
        before = state.read(path)
        if before == text:
            continue
        diffs.append(state.diff(path, before, text))
        if module.check_mode:
            continue
        mode = 0o644
        if os.path.exists(path):
            # What the site keeps from others, such as the way to its secret, stays so.
            mode = os.stat(path).st_mode & 0o777
            module.backup_local(path)
        state.write(path, text, mode)
    changed = [diff["after_header"] for diff in diffs]
    return {
        "changed": bool(diffs),
        "diff": diffs,
        "installed": bool(files),
        "files": changed,
        "msg": beegfs_lines.sentence(bool(files), changed),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "default": "/etc/beegfs"},
            "rdma": {"type": "bool", "default": True},
            "settings": {"type": "dict", "default": {}},
            "interfaces": {"type": "list", "elements": "str", "default": []},
            "rdma_interfaces": {"type": "list", "elements": "str", "default": []},
            "ofed_include": {"type": "str", "default": "auto"},
        },
        supports_check_mode=True,
    )
    try:
        result = _apply(module)
    except ConfError as exc:
        module.fail_json(msg=f"BeeGFS client: {exc}. Next: correct beegfs_client_settings")
    except OSError as exc:
        module.fail_json(msg=f"BeeGFS client: {exc.filename}: {exc.strerror}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
