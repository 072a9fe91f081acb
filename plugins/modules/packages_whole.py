#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: packages_whole
short_description: Let dpkg end what an interrupted run left half installed
version_added: 0.1.0
description:
  - apt refuses every installation on a host that lost its power, or its controller, while packages
    were installed. This lets dpkg and apt end what was begun, as M(ibready.cluster.stack_packages)
    does before it brings a plan's packages.
  - Where that would remove any package it is refused, and nothing but C(dpkg --configure -a) was
    run.
  - A host whose packages are whole is only looked at.
  - It tells as well which packages are not there, so that apt is asked only where something is to do.
options:
  packages:
    description:
      - The packages that the host should have, as M(ansible.builtin.apt) takes them.
      - What is not the plain name of a package (C(name=version), a pattern) always counts as
        missing, for only apt knows what it means.
    type: list
    elements: str
    default: []
  lock_timeout:
    description: How long to wait for another process that changes packages, in seconds.
    type: int
    default: 120
  host:
    description: The host's name in messages.
    type: str
attributes:
  check_mode:
    description: Says what is half installed, and changes nothing.
    support: full
  diff_mode:
    description: There is no text to compare.
    support: none
notes:
  - For hosts with apt. rpm has no packages that are half installed.
  - Configuration files that somebody changed are kept.
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: End what an interrupted run left half installed
  ibready.cluster.packages_whole:
    lock_timeout: 300
    host: "{{ inventory_hostname }}"

- name: See which packages are not there
  ibready.cluster.packages_whole:
    packages: [openmpi-bin]
  register: found

- name: Install them
  ansible.builtin.apt:
    name: "{{ found.missing }}"
  when: found.missing | length > 0
"""

RETURN = r"""
damage:
  description: What was found, one phrase each.
  type: list
  elements: str
  returned: always
  sample: ["rdma-core is not installed to the end"]
ran:
  description: The commands that repaired it; none in check mode.
  type: list
  elements: str
  returned: success
  sample: ["dpkg --configure -a"]
missing:
  description: Which of O(packages) are not installed after the repair; in the same order.
  type: list
  elements: str
  returned: success
  sample: ["openmpi-bin"]
kind:
  description: Why it failed, as one word - broken, disk, lock, unreachable or failed.
  type: str
  returned: failure
"""

import socket

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.packages import run
from ..module_utils._act.packages.apt import Apt
from ..module_utils._act.packages.model import PackageError


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "lock_timeout": {"type": "int", "default": 120},
            "host": {"type": "str"},
            "packages": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    host = module.params["host"] or socket.gethostname()
    damage: list[str] = []
    ran: list[str] = []
    try:
        packages = Apt(run.run)
        damage = packages.damage()
        if damage and not module.check_mode:
            packages.wait(module.params["lock_timeout"])
            # Whoever held the lock may have been in the middle of it, and be done now.
            damage = packages.damage()
            ran = packages.repair(()) if damage else []
        there = packages.installed() if module.params["packages"] else {}
    except PackageError as exc:
        module.fail_json(msg=f"{host}: {exc}", kind=exc.kind, damage=damage, changed=exc.changed)
    if ran:
        module.warn(f"{host}: an interrupted run was made good: {'; '.join([*damage, *ran])}")
    missing = [name for name in module.params["packages"] if name not in there]
    module.exit_json(changed=bool(damage), damage=damage, ran=ran, missing=missing)


if __name__ == "__main__":
    main()
