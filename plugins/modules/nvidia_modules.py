#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nvidia_modules
short_description: Build NVIDIA's modules again after the RDMA stack changed, and load them
version_added: 0.1.0
description:
  - Where DKMS built an RDMA stack for the running kernel after NVIDIA's modules, it has DKMS build
    those again, since C(nvidia-peermem) is built against the stack that is there. So it does with
    C(nvidia-fs) after the driver.
  - Loads C(nvidia) where no driver is loaded and nothing else has the GPUs. A loaded driver is
    never unloaded here.
  - Tells which version is loaded and which is installed.
options:
  load:
    description: Modules to be loaded if none of the driver is.
    type: list
    elements: str
    default: [nvidia, nvidia_uvm]
extends_documentation_fragment: [ibready.cluster.no_diff, ibready.cluster.root, ibready.cluster.inner]
attributes:
  check_mode:
    description: Says what would change and changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Build what has to be built again
  ibready.cluster.nvidia_modules:
  register: driver
"""

RETURN = r"""
rebuilt: {type: str, returned: success, description: Why the modules were built again; empty where they were not.}
loaded: {type: str, returned: success, description: The version of the loaded driver; empty where none is.}
installed:
  description: The version that is installed for the running kernel; empty where none is.
  type: str
  returned: success
current: {type: bool, returned: success, description: Whether the loaded driver is the installed one.}
loaded_now: {type: list, elements: str, returned: success, description: The modules that were loaded.}
notice:
  description: What keeps the installed driver from running, with the next step; or empty.
  type: str
  returned: success
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.driver import nvidia_build
from ..module_utils._act.packages import dkms, run
from ..module_utils._act.packages.model import PackageError
from ..module_utils._ground.command import Missing, Unavailable, run_by_name


def installed(name: str) -> str:
    """The version of a module's file for the running kernel, "" where there is none.

    Raises Unavailable where modinfo is there and gives no answer.
    """
    try:
        done = run_by_name(["modinfo", "-F", "version", name], 20)
    except Missing:
        return ""
    return done.stdout.strip() if done.rc == 0 else ""


def load(names: list[str]) -> list[str]:
    """Load modules; PackageError with modprobe's words."""
    for name in names:
        done = run_by_name(["modprobe", name], 120)
        if done.rc != 0:
            raise PackageError(
                "failed",
                f"modprobe {name} failed: {(done.stderr or done.stdout).strip()[:300]}",
                "see `dmesg`; under Secure Boot the module's key must be enrolled",
                changed=True,
            )
    return names


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "load": {"type": "list", "elements": "str", "default": ["nvidia", "nvidia_uvm"]},
            "root": {"type": "path", "default": "/"},
        },
        supports_check_mode=True,
    )
    root, kernel = module.params["root"], os.uname().release
    rebuilt, loaded_now, notice = "", [], ""
    try:
        stale = nvidia_build.stale(root, kernel)
        while stale is not None:
            built, why = stale
            rebuilt = "; ".join(filter(None, (rebuilt, why)))
            if module.check_mode:
                break
            dkms.builder(run.run)(built, kernel)
            stale = nvidia_build.stale(root, kernel)
            if stale is not None and stale[0] == built:
                raise dkms.failure(root, built, kernel)
        before, there = nvidia_build.loaded(root), installed(nvidia_build.module(root))
        if there and not before:
            if nvidia_build.rival(root):
                notice = (
                    "nouveau has the GPUs, so nvidia cannot be loaded. Next: reboot (the role"
                    " reboot_gate, with ibready_reboot_ok)"
                )
            elif module.check_mode:
                loaded_now = module.params["load"]
            else:
                loaded_now = load(module.params["load"])
    except (PackageError, Unavailable) as exc:
        module.fail_json(msg=f"NVIDIA modules: {exc}")
    now = nvidia_build.loaded(root)
    if now and there and now != there:
        notice = (
            f"nvidia {now} is loaded, {there} is installed. Next: reboot (the role reboot_gate,"
            " with ibready_reboot_ok), or unload it when nothing uses a GPU"
        )
    module.exit_json(
        changed=bool(rebuilt or loaded_now),
        rebuilt=rebuilt,
        loaded=now,
        installed=there,
        current=bool(now) and now == there,
        loaded_now=loaded_now,
        notice=notice,
    )


if __name__ == "__main__":
    main()
